/* SPDX-License-Identifier: Apache-2.0 */
/* The topics, one file each: test_NAME.c. Each runs its group of tests and returns cmocka's result.
 */
#ifndef CTXPROP_TEST_TOPICS_H
#define CTXPROP_TEST_TOPICS_H

#define TOPICS(X)                                                                                  \
	X(grow) X(retransmit) X(ack) X(opaque) X(answer) X(shape) X(life) X(split) X(device)

#define TOPIC_DECLARATION(name) int test_##name(void);
TOPICS(TOPIC_DECLARATION)
#undef TOPIC_DECLARATION

#endif
