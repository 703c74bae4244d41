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

/**
 * TomcatServer ADDRESS PORT url|client [start]: Tomcat within the program, and a servlet that does
 * the work itself, or starts it: then any of Tomcat's threads does it. For the rest see Server.
 */
public class TomcatServer {
	private static final int WORKERS = 128;

	private static final class Plans extends HttpServlet {
		private final transient Ways ways;
		private final boolean starts;

		Plans(Ways ways, boolean starts) {
			this.ways = ways;
			this.starts = starts;
		}

		private void carryOut(HttpServletRequest request, HttpServletResponse response)
		    throws Exception {
			ways.carryOut(request.getRequestURI(), request.getHeader("x-truth"));
			response.setContentLength(2);
			response.getOutputStream().write("ok".getBytes());
		}

		private void carryOutLater(AsyncContext later) {
			try {
				carryOut((HttpServletRequest)later.getRequest(),
					 (HttpServletResponse)later.getResponse());
			} catch (Exception error) {
				System.err.println("TomcatServer: " + error);
			}
			later.complete();
		}

		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response)
		    throws IOException {
			if (!starts) {
				try {
					carryOut(request, response);
				} catch (Exception error) {
					throw new IOException(error);
				}
				return;
			}
			AsyncContext later = request.startAsync();

			later.setTimeout(0);
			later.start(() -> carryOutLater(later));
		}
	}

	private static Connector connector(String address, String port) {
		Connector connector = new Connector();

		connector.setPort(Integer.parseInt(port));
		connector.setProperty("address", address);
		connector.setProperty("acceptCount", "1024");
		connector.setProperty("maxThreads", String.valueOf(WORKERS));
		return connector;
	}

	public static void main(String[] arguments) throws Exception {
		String folder = Files.createTempDirectory("tomcat").toString();
		Tomcat tomcat = new Tomcat();
		Context context;
		Wrapper servlet;

		tomcat.setBaseDir(folder);
		tomcat.setConnector(connector(arguments[0], arguments[1]));
		context = tomcat.addContext("", folder);
		servlet = Tomcat.addServlet(
		    context, "plans",
		    new Plans(new Ways(new Calls(arguments[2])), arguments.length > 3));
		servlet.setAsyncSupported(true);
		context.addServletMappingDecoded("/*", "plans");
		tomcat.start();
	}
}
