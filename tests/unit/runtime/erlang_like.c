// SPDX-License-Identifier: Apache-2.0
/*
 * What looks like Erlang's emulator and is none, or not whole. NIFS, DRIVERS: it has that function;
 * HIDDEN: not for others; else it asks for it, as a library of native functions does.
 */
#ifdef HIDDEN
#define SHOWN __attribute__((visibility("hidden")))
#else
#define SHOWN
#endif

SHOWN void *enif_priv_data(void *env);
SHOWN int erl_drv_thread_create(void);
int erlang_like_load(void *env);

const char erlang_like_names[] = "enif_priv_data\0erl_drv_thread_create";

#ifdef NIFS
void *enif_priv_data(void *env)
{
	return env;
}
#endif

#ifdef DRIVERS
int erl_drv_thread_create(void)
{
	return -1;
}
#endif

int erlang_like_load(void *env)
{
	return enif_priv_data(env) ? erl_drv_thread_create() : -1;
}
