/* SPDX-License-Identifier: Apache-2.0 */
/* The topics, one file each: test_NAME.c. Each runs its group of tests and returns cmocka's result.
 */
#ifndef CTXPROP_TEST_TOPICS_H
#define CTXPROP_TEST_TOPICS_H

int test_grow(void);
int test_retransmit(void);
int test_ack(void);
int test_settled(void);
int test_opaque(void);
int test_answer(void);
int test_shape(void);
int test_life(void);
int test_twin(void);
int test_end(void);
int test_reset(void);
int test_forged(void);
int test_join(void);
int test_icmp(void);
int test_split(void);
int test_device(void);
int test_damaged(void);
int test_policy(void);
int test_restart(void);
int test_child(void);
int test_serve(void);
int test_story(void);
int test_record(void);
int test_http2(void);
int test_streams(void);
int test_budget(void);

#endif
