/* storage/crash_disk.h - a disk of bad character, in the place of the real one (storage/disk.h) in builds with
 * -DCRAB_CRASH_DISK.
 *
 * What was written stays in memory until it is synced (reads see it), and at a crash point a seeded choice of the
 * unsynced writes reaches the real files, whole or torn at 512-byte sectors, in any order; then the process ends with
 * status 137. The crash point is crash_disk_crash(seed), or the n-th disk call:
 *
 *     CRAB_CRASH_AFTER=n CRAB_CRASH_SEED=s crabtree -D dir */
#ifndef STORAGE_CRASH_DISK_H
#define STORAGE_CRASH_DISK_H

#include <stdint.h>

#ifdef CRAB_CRASH_DISK
_Noreturn void crash_disk_crash(uint64_t seed);
void    crash_disk_plan(uint64_t after, uint64_t seed);   /* crash at the after-th call from now on; 0: never */
uint64_t crash_disk_calls(void);
#endif

#endif
