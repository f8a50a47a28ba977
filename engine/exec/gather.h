/* engine/exec/gather.h - parallel sinks that take their input in parts: fixed pieces of a table, the inputs of an append. */
#ifndef ENGINE_EXEC_GATHER_H
#define ENGINE_EXEC_GATHER_H

#include "engine/exec/operator.h"

/* As parallel_sink_run, but each aligned run of 2^level grains goes to one worker as a whole. */
enum status parallel_pieces_run(struct exec_node *child, struct exec_node *op, const struct sink_class *, uint16_t workers, uint8_t level) MUST_CHECK;

/* source.c: an append's inputs. A sink that can tell them apart runs each as a pipeline of its own. */
struct exec_node *const *append_inputs(const struct exec_node *append, uint16_t *count);

#endif
