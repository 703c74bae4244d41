/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of pprof by short names. */
#ifndef CTXPROP_PROFILE_MESSAGE_PPROF_TYPES_H
#define CTXPROP_PROFILE_MESSAGE_PPROF_TYPES_H

#include "pprof.pb-c.h"

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Mapping Mapping;
typedef Perftools__Profiles__Function Function;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__ValueType ValueType;

#endif
