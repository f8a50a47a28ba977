/* tests/interleave/power.h - what a loss of power would leave of the memory disk.
 *
 *     power_begin(16);                        a store, on a disk that knows what was synced
 *     ...  power_fails();                     at some moment of a run: this is what the disk may look like then
 *     ...                                     the run goes on to its end
 *     power_return(16);                       the store is closed; the disk is put back to that moment; it recovers
 *     store_end(); power_end();
 *
 * Between power_begin() and power_fails() each write is kept with what it replaced until the file is synced. What was not
 * synced when the power failed is then lost or kept, sector by sector, as the seed wills. Making, renaming and removing
 * files counts as done at once; scenarios do none of it after power_fails(). */
#ifndef TESTS_INTERLEAVE_POWER_H
#define TESTS_INTERLEAVE_POWER_H

#include "tests/interleave/interleave.h"

void power_disk_begin(void);                /* the disk alone, for scenarios without a store */
void power_disk_end(void);
void power_begin(uint32_t frames);
void power_fails(void);                     /* once a run */
void power_return(uint32_t frames);
void power_end(void);

/* Are these records of the log on the disk, and would they stay if the power failed now? `from` is where one begins, `to` where
 * one ends. (Once the power has failed, what was written since counts as synced.) */
bool power_keeps_wal(const char *directory, uint64_t from, uint64_t to);

#endif
