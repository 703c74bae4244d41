/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_HOOK_H
#define CTXPROP_HOOK_H

/* The two places of a device that a packet passes. */
enum hook { HOOK_IN, HOOK_OUT };
#define HOOKS 2

/* What a packet of a device begins with. */
enum framing { FRAMING_ETHERNET, FRAMING_IP };
#define FRAMINGS 2

#endif
