/* base/atomic.h - atomics that carry meaning between threads; each is a point of base/hooks.h.
 * Sequentially consistent unless the name says otherwise. Statistics counters use <stdatomic.h> relaxed, directly. */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#include <stdatomic.h>
#include "base/hooks.h"

/* For loops that try again. spin_pause: the processor's own pause; under the seeded scheduler another thread goes first.
 * spin_count: how often such a loop shall try before it sleeps: under the seeded scheduler never. */
void spin_pause(void);
int  spin_count(int wanted);

#define atom_load(p)              (point_at("atom.load " #p, (const void *)(p), 0), atomic_load(p))
#define atom_load_acquire(p)      (point_at("atom.load " #p, (const void *)(p), 0), atomic_load_explicit((p), memory_order_acquire))
#define atom_store(p, v)          (point_at("atom.store " #p, (const void *)(p), 0), atomic_store((p), (v)))
#define atom_store_release(p, v)  (point_at("atom.store " #p, (const void *)(p), 0), atomic_store_explicit((p), (v), memory_order_release))
#define atom_add(p, v)            (point_at("atom.add " #p, (const void *)(p), 0), atomic_fetch_add((p), (v)))   /* the old value */
#define atom_sub(p, v)            (point_at("atom.sub " #p, (const void *)(p), 0), atomic_fetch_sub((p), (v)))   /* the old value */
#define atom_cas(p, expected, v)  (point_at("atom.cas " #p, (const void *)(p), 0), atomic_compare_exchange_strong((p), (expected), (v)))
#define atom_exchange(p, v)       (point_at("atom.exchange " #p, (const void *)(p), 0), atomic_exchange((p), (v)))

#endif
