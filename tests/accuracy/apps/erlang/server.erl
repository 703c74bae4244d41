%% SPDX-License-Identifier: Apache-2.0
%% server.erl ADDRESS PORT: a process of Erlang for each connection. The target is the plan:
%% /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where calls come from: s this process, on a
%% connection each; t a new process each; p new processes, all at once; k this process, on connections
%% that are kept by another one; h httpc, whose processes keep connections.
%% Environment: UPSTREAM (host:port), BACKGROUND_MS (mean pause between calls that belong to no request).
-module(server).
-mode(compile).
-export([main/1]).

main([Address, Port]) ->
    {ok, _} = application:ensure_all_started(inets),
    ok = httpc:set_options([{max_sessions, 8}]),
    register(keeper, spawn_link(fun() -> keep([]) end)),
    background(os:getenv("BACKGROUND_MS")),
    {ok, Ip} = inet:parse_address(Address),
    {ok, Listener} = gen_tcp:listen(list_to_integer(Port), [binary, {ip, Ip}, {active, false}, {backlog, 1024},
                                                            {reuseaddr, true}, {packet, http_bin}]),
    accept(Listener).

accept(Listener) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Pid = spawn(fun() -> receive go -> serve(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Pid),
    Pid ! go,
    accept(Listener).

serve(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_request, 'GET', {abs_path, Path}, _}} ->
            Fields = fields(Socket, []),
            work(Path, proplists:get_value(<<"x-truth">>, Fields)),
            ok = gen_tcp:send(Socket, <<"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok">>),
            serve(Socket);
        _ ->
            gen_tcp:close(Socket)
    end.

fields(Socket, Found) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_header, _, Name, _, Value}} when is_atom(Name) ->
            fields(Socket, [{string:lowercase(atom_to_binary(Name)), Value} | Found]);
        {ok, {http_header, _, Name, _, Value}} ->
            fields(Socket, [{string:lowercase(Name), Value} | Found]);
        {ok, http_eoh} ->
            Found
    end.

work(Path, Truth) ->
    [<<>>, Before, Between, After, Calls, Mode] = binary:split(Path, <<"/">>, [global]),
    pause(Before),
    many(Mode, binary_to_integer(Calls), Between, Truth),
    pause(After).

pause(Milliseconds) ->
    timer:sleep(binary_to_integer(Milliseconds)).

many(<<"p">>, Calls, _, Truth) ->
    wait([apart(Truth) || _ <- lists:seq(1, Calls)]);
many(Mode, Calls, Between, Truth) ->
    [begin Number > 1 andalso pause(Between), call(Mode, Truth) end || Number <- lists:seq(1, Calls)].

apart(Truth) ->
    spawn_monitor(fun() -> by_connection(Truth) end).

wait(Monitored) ->
    [receive {'DOWN', Monitor, process, _, normal} -> ok end || {_, Monitor} <- Monitored].

call(<<"s">>, Truth) -> by_connection(Truth);
call(<<"t">>, Truth) -> wait([apart(Truth)]);
call(<<"k">>, Truth) -> by_kept(Truth);
call(<<"h">>, Truth) ->
    Fields = [{"x-truth", binary_to_list(Truth)} || Truth =/= undefined],
    {ok, {200, _}} = httpc:request(get, {"http://" ++ os:getenv("UPSTREAM") ++ "/", Fields}, [],
                                   [{full_result, false}]).

background(false) ->
    none;
background(Pause) ->
    spawn_link(fun() -> in_background(list_to_integer(Pause)) end).

in_background(Pause) ->
    timer:sleep(rand:uniform(2 * Pause)),
    by_kept(<<"none">>),
    in_background(Pause).

by_connection(Truth) ->
    Socket = connect(),
    ask(Socket, Truth),
    gen_tcp:close(Socket).

by_kept(Truth) ->
    keeper ! {take, self()},
    Kept = receive {kept, Found} -> Found end,
    Socket = case Kept of none -> connect(); _ -> Kept end,
    ask(Socket, Truth),
    ok = gen_tcp:controlling_process(Socket, whereis(keeper)),
    keeper ! {put, Socket}.

%% Connections that no process uses just now belong to this one.
keep(Sockets) ->
    receive
        {put, Socket} ->
            keep([Socket | Sockets]);
        {take, Pid} when Sockets =:= [] ->
            Pid ! {kept, none},
            keep([]);
        {take, Pid} ->
            ok = gen_tcp:controlling_process(hd(Sockets), Pid),
            Pid ! {kept, hd(Sockets)},
            keep(tl(Sockets))
    end.

connect() ->
    [Host, Port] = string:split(os:getenv("UPSTREAM"), ":"),
    {ok, Ip} = inet:parse_address(Host),
    {ok, Socket} = gen_tcp:connect(Ip, list_to_integer(Port), [binary, {active, false}, {packet, http_bin}]),
    Socket.

ask(Socket, Truth) ->
    Field = [[<<"x-truth: ">>, Truth, <<"\r\n">>] || Truth =/= undefined],
    ok = gen_tcp:send(Socket, [<<"GET / HTTP/1.1\r\nhost: upstream\r\n">>, Field, <<"\r\n">>]),
    {ok, {http_response, _, 200, _}} = gen_tcp:recv(Socket, 0),
    Length = binary_to_integer(proplists:get_value(<<"content-length">>, fields(Socket, []))),
    ok = inet:setopts(Socket, [{packet, raw}]),
    {ok, _} = gen_tcp:recv(Socket, Length),
    ok = inet:setopts(Socket, [{packet, http_bin}]).
