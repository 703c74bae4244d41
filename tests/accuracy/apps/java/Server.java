// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Server ADDRESS PORT url|client|direct|list [virtual]: com.sun.net.httpserver with an executor, of so many
 * threads, or of a virtual thread for each request.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms; for MODE see Ways.
 * Environment: UPSTREAM (host:port).
 */
public class Server {
	private static final int WORKERS = 64;
	private static Ways ways;

	private static void serve(HttpExchange exchange) throws IOException {
		try (exchange) {
			ways.carryOut(exchange.getRequestURI().getPath(),
				      exchange.getRequestHeaders().getFirst("x-truth"));
			exchange.sendResponseHeaders(200, 2);
			exchange.getResponseBody().write("ok".getBytes());
		} catch (Exception error) {
			System.err.println("Server: " + error);
		}
	}

	/** Compiled with Java 17, which has no virtual threads. */
	private static ExecutorService virtualThreads() throws ReflectiveOperationException {
		return (ExecutorService)Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
		    .invoke(null);
	}

	public static void main(String[] arguments) throws Exception {
		InetSocketAddress address =
		    new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
		HttpServer server = HttpServer.create(address, 1024);

		ways = new Ways(new Calls(arguments[2]));
		server.createContext("/", Server::serve);
		server.setExecutor(arguments.length > 3 ? virtualThreads()
							: Executors.newFixedThreadPool(WORKERS));
		server.start();
	}
}
