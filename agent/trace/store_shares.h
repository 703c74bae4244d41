/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gives way where the store is too large: an owner (struct service) who has so much of it that
 * nothing would be left for others. All numbers are bytes as the column services.bytes has them.
 */
#ifndef CTXPROP_STORE_SHARES_H
#define CTXPROP_STORE_SHARES_H

#include <sqlite3.h>

/*
 * The two owners with most may have three quarters of the store together, the first of them half
 * of it; others have the rest, if there are others. Returns a service of the owner with most of it
 * where that is more; 0: nobody is above his share.
 */
sqlite3_int64 store_shares_above(sqlite3 *db);

/*
 * Remove the oldest spans and connections of the owner of `service`, of `rows` rows that are looked
 * at. Returns how many were removed, or -EIO (sqlite3_errmsg()).
 */
int store_shares_remove(sqlite3 *db, sqlite3_int64 service, int rows);

#endif
