/* engine/exec/gather.h - a parallel sink whose workers take fixed pieces of the table. */
#ifndef ENGINE_EXEC_GATHER_H
#define ENGINE_EXEC_GATHER_H

#include "engine/exec/operator.h"

/* As parallel_sink_run, but each aligned run of 2^level grains goes to one worker as a whole. */
enum status parallel_pieces_run(struct exec_node *child, struct exec_node *op, const struct sink_class *, uint16_t workers, uint8_t level) MUST_CHECK;

#endif
