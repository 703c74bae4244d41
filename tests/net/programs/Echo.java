// SPDX-License-Identifier: Apache-2.0
// Echo.java PORT: answers with the fields of the request and the length of its body, as JSON.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

public class Echo {
	static String text(String value) {
		return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", "\\t") + '"';
	}

	static void answer(HttpExchange exchange) throws IOException {
		int length = exchange.getRequestBody().readAllBytes().length;
		List<String> fields = new ArrayList<>();
		exchange.getRequestHeaders().forEach((name, values) -> values.forEach(
			value -> fields.add("[" + text(name) + "," + text(value) + "]")));
		byte[] body = ("{\"fields\":[" + String.join(",", fields) + "],\"length\":" + length + "}")
			.getBytes(StandardCharsets.UTF_8);
		exchange.sendResponseHeaders(200, body.length);
		try (OutputStream out = exchange.getResponseBody()) {
			out.write(body);
		}
	}

	public static void main(String[] args) throws IOException {
		HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(args[0])), 0);
		server.createContext("/", Echo::answer);
		server.start();
	}
}
