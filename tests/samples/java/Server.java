// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Server PORT pool|virtual [async]: the HttpServer of the JDK, with a pool of threads, or a virtual thread for each request.
 * async: the second slice is done in another pool, by CompletableFuture.runAsync().
 */
public final class Server {
	private static final int WORKERS = 40, HELPERS = 4, BACKLOG = 64;
	private static final ExecutorService HELPER = Executors.newFixedThreadPool(HELPERS);

	private Server() {
	}

	private static void serve(HttpExchange exchange, boolean async) throws IOException {
		String id = exchange.getRequestURI().getQuery();

		Burn.slice(id);
		Burn.pause(Burn.PAUSE_MS);
		if (async)
			CompletableFuture.runAsync(() -> Burn.slice(id), HELPER).join();
		else
			Burn.slice(id);
		exchange.sendResponseHeaders(200, 2);
		exchange.getResponseBody().write("ok".getBytes());
		exchange.close();
	}

	/** Executors.newVirtualThreadPerTaskExecutor(), which old versions do not have. */
	private static ExecutorService virtual() throws ReflectiveOperationException {
		return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
	}

	public static void main(String[] arguments) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(arguments[0])), BACKLOG);
		boolean async = arguments.length > 2;

		server.setExecutor("virtual".equals(arguments[1]) ? virtual() : Executors.newFixedThreadPool(WORKERS));
		server.createContext("/", exchange -> serve(exchange, async));
		Burn.startBackground();
		server.start();
	}
}
