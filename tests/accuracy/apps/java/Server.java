// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Server ADDRESS PORT url|client: com.sun.net.httpserver with an executor; calls by
 * HttpURLConnection or by java.net.http.HttpClient.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls
 * come from: s the handler's thread; t a new thread each, one after the other; p new threads, all
 * at once; q the threads of another executor. Environment: UPSTREAM (host:port).
 */
public class Server {
	private static final int WORKERS = 64;
	private static final int POOL_SIZE = 8;
	private static final String UPSTREAM = "http://" + System.getenv("UPSTREAM") + "/";
	private static final ExecutorService POOL = Executors.newFixedThreadPool(POOL_SIZE);
	private static HttpClient client;

	private static void callByUrl(String truth) throws Exception {
		HttpURLConnection connection =
		    (HttpURLConnection)new URL(UPSTREAM).openConnection();

		if (truth != null)
			connection.setRequestProperty("x-truth", truth);
		try (InputStream answer = connection.getInputStream()) {
			answer.readAllBytes();
		}
	}

	private static void callByClient(String truth) throws Exception {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(UPSTREAM));

		if (truth != null)
			request.header("x-truth", truth);
		client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
	}

	private static void call(String truth) {
		try {
			if (client == null)
				callByUrl(truth);
			else
				callByClient(truth);
		} catch (Exception error) {
			System.err.println("Server: " + error);
		}
	}

	private static Thread inThread(String truth) {
		Thread thread = new Thread(() -> call(truth));

		thread.start();
		return thread;
	}

	private static void parallel(int calls, String truth) throws Exception {
		Thread[] threads = new Thread[calls];

		for (int i = 0; i < calls; i++)
			threads[i] = inThread(truth);
		for (Thread thread : threads)
			thread.join();
	}

	private static void one(String mode, String truth) throws Exception {
		if (mode.equals("s"))
			call(truth);
		else if (mode.equals("t"))
			inThread(truth).join();
		else
			POOL.submit(() -> call(truth)).get();
	}

	private static void work(String[] plan, String truth) throws Exception {
		int calls = Integer.parseInt(plan[4]);

		Thread.sleep(Integer.parseInt(plan[1]));
		if (plan[5].equals("p"))
			parallel(calls, truth);
		for (int i = 0; i < calls && !plan[5].equals("p"); i++) {
			Thread.sleep(i == 0 ? 0 : Integer.parseInt(plan[2]));
			one(plan[5], truth);
		}
		Thread.sleep(Integer.parseInt(plan[3]));
	}

	private static void serve(HttpExchange exchange) throws IOException {
		try (exchange) {
			work(exchange.getRequestURI().getPath().split("/"),
			     exchange.getRequestHeaders().getFirst("x-truth"));
			exchange.sendResponseHeaders(200, 2);
			exchange.getResponseBody().write("ok".getBytes());
		} catch (Exception error) {
			System.err.println("Server: " + error);
		}
	}

	public static void main(String[] arguments) throws Exception {
		InetSocketAddress address =
		    new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
		HttpServer server = HttpServer.create(address, 1024);

		if (arguments[2].equals("client"))
			client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		server.createContext("/", Server::serve);
		server.setExecutor(Executors.newFixedThreadPool(WORKERS));
		server.start();
	}
}
