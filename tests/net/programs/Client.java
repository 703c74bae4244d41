// SPDX-License-Identifier: Apache-2.0
// Client.java URL COUNT: POSTs of 5,000 bytes; it offers an upgrade to HTTP/2 with the first.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

class Client {
	public static void main(String[] arguments) throws Exception {
		var client = HttpClient.newHttpClient();
		for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
			var request = HttpRequest.newBuilder(URI.create(arguments[0] + "/" + i))
				.POST(BodyPublishers.ofString("n".repeat(5000))).build();
			if (client.send(request, BodyHandlers.ofString()).statusCode() != 200)
				System.exit(1);
		}
	}
}
