// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

/** How a call goes out: by HttpURLConnection, java.net.http.HttpClient, or ListClient. */
final class Calls {
	private static final String UPSTREAM = "http://" + System.getenv("UPSTREAM") + "/";
	private final HttpClient client;
	private final ListClient list;

	private static HttpClient client(boolean direct) {
		HttpClient.Builder client =
		    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);

		return direct ? client.executor(Runnable::run).build() : client.build();
	}

	/** By "url", by "client", by that with no threads for what it does ("direct"), or by "list". */
	Calls(String by) throws IOException {
		URI upstream = URI.create(UPSTREAM);

		client = by.equals("client") || by.equals("direct") ? client(by.equals("direct"))
								  : null;
		list = by.equals("list") ? new ListClient(upstream.getHost(), upstream.getPort())
					 : null;
	}

	private static void callByUrl(String truth) throws Exception {
		HttpURLConnection connection =
		    (HttpURLConnection)new URL(UPSTREAM).openConnection();

		if (truth != null)
			connection.setRequestProperty("x-truth", truth);
		try (InputStream answer = connection.getInputStream()) {
			answer.readAllBytes();
		}
	}

	private void callByList(String truth) throws Exception {
		String field = truth == null ? "" : "x-truth: " + truth + "\r\n";

		list.call("GET / HTTP/1.1\r\nHost: upstream\r\n" + field + "\r\n");
	}

	private static HttpRequest request(String truth) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(UPSTREAM));

		if (truth != null)
			request.header("x-truth", truth);
		return request.build();
	}

	/** Make a call, and wait for its answer. */
	Void call(String truth) {
		try {
			if (list != null)
				callByList(truth);
			else if (client == null)
				callByUrl(truth);
			else
				client.send(request(truth), HttpResponse.BodyHandlers.ofByteArray());
		} catch (Exception error) {
			System.err.println("Server: " + error);
		}
		return null;
	}

	/** The same, without waiting; by HttpClient only. */
	CompletableFuture<Void> begin(String truth) {
		return client.sendAsync(request(truth), HttpResponse.BodyHandlers.ofByteArray())
		    .thenAccept(answer -> {});
	}
}
