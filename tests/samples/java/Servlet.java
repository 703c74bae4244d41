// SPDX-License-Identifier: Apache-2.0

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Servlet PORT [async]: Tomcat within the program; async: after the first slice by AsyncContext.start(). */
public final class Servlet extends HttpServlet {
	private static final String WORKERS = "40", BACKLOG = "64";
	private final boolean async;

	private Servlet(boolean async) {
		this.async = async;
	}

	private static void finish(String id, HttpServletResponse response) throws IOException {
		Burn.pause(Burn.PAUSE_MS);
		Burn.slice(id);
		response.setContentLength(2);
		response.getOutputStream().write("ok".getBytes());
	}

	private static void finishLater(String id, AsyncContext later) {
		try {
			finish(id, (HttpServletResponse) later.getResponse());
		} catch (IOException error) {
			System.err.println(error);
		}
		later.complete();
	}

	@Override
	protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
		String id = request.getQueryString();

		Burn.slice(id);
		if (async) {
			AsyncContext later = request.startAsync();

			later.start(() -> finishLater(id, later));
		} else {
			finish(id, response);
		}
	}

	public static void main(String[] arguments) throws Exception {
		String folder = Files.createTempDirectory("tomcat").toString();
		Tomcat tomcat = new Tomcat();
		Connector connector = new Connector();
		Context context;
		Wrapper servlet;

		connector.setPort(Integer.parseInt(arguments[0]));
		connector.setProperty("acceptCount", BACKLOG);
		connector.setProperty("maxThreads", WORKERS);
		connector.setProperty("maxKeepAliveRequests", "-1");
		tomcat.setBaseDir(folder);
		tomcat.setConnector(connector);
		context = tomcat.addContext("", folder);
		servlet = Tomcat.addServlet(context, "burn", new Servlet(arguments.length > 1));
		servlet.setAsyncSupported(true);
		context.addServletMappingDecoded("/*", "burn");
		Burn.startBackground();
		tomcat.start();
	}
}
