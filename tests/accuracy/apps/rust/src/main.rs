// SPDX-License-Identifier: Apache-2.0

//! server ADDRESS:PORT: hyper's server and client, on tokio.
//!
//! The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE: s one call after the
//! other, p all at once. Environment: UPSTREAM (host:port); THREADS (of workers, 1): 0 means that the
//! main thread does all.
use hyper::service::{make_service_fn, service_fn};
use hyper::{body, client::HttpConnector, header::HeaderValue, Body, Client, Request, Response, Server};
use std::{convert::Infallible, env, time::Duration};

type Upstream = Client<HttpConnector>;

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

async fn call(client: Upstream, uri: String, truth: Option<HeaderValue>) -> Result<(), hyper::Error> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = uri.parse().expect("a URI");
    if let Some(truth) = truth {
        request.headers_mut().insert("x-truth", truth);
    }
    body::to_bytes(client.request(request).await?.into_body()).await?;
    Ok(())
}

async fn serve(client: Upstream, uri: String, request: Request<Body>) -> Result<Response<Body>, hyper::Error> {
    let plan: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    let number = |i: usize| plan.get(i).and_then(|word| word.parse().ok()).unwrap_or(0);
    let truth = request.headers().get("x-truth");
    let call_again = || call(client.clone(), uri.clone(), truth.cloned());

    pause(number(0)).await;
    if plan.get(4) == Some(&"p") {
        let calls: Vec<_> = (0..number(3)).map(|_| tokio::spawn(call_again())).collect();
        for one in calls {
            one.await.expect("a task that ends")?;
        }
    } else {
        for i in 0..number(3) {
            if i > 0 {
                pause(number(1)).await;
            }
            call_again().await?;
        }
    }
    pause(number(2)).await;
    Ok(Response::new(Body::from("ok")))
}

async fn run(address: String) {
    let uri = format!("http://{}/", env::var("UPSTREAM").expect("UPSTREAM is set"));
    let client = Client::new();
    let service = make_service_fn(move |_| {
        let (client, uri) = (client.clone(), uri.clone());
        let one = service_fn(move |request| serve(client.clone(), uri.clone(), request));
        async move { Ok::<_, Infallible>(one) }
    });
    Server::bind(&address.parse().expect("ADDRESS:PORT")).serve(service).await.expect("a port that is free");
}

fn main() {
    let threads = env::var("THREADS").map_or(1, |text| text.parse().expect("THREADS is a number"));
    let mut runtime = if threads > 0 {
        let mut several = tokio::runtime::Builder::new_multi_thread();
        several.worker_threads(threads);
        several
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let address = env::args().nth(1).expect("ADDRESS:PORT");
    runtime.enable_all().build().expect("a runtime").block_on(run(address));
}
