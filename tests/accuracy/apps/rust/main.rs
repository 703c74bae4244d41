// SPDX-License-Identifier: Apache-2.0

//! server ADDRESS:PORT [THREADS]: hyper's server and client, on tokio; without THREADS on the one
//! thread that there is, else on so many.
//!
//! The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls
//! come from: s the handler; p all at once; t a new task each, which the handler waits for; o the
//! handler, and once more, some milliseconds later, a task that nobody waits for (x-truth: none).
//! Of responses BYTES (environment) are sent. Environment: UPSTREAM
//! (host:port).

use futures_util::future::join_all;
use hyper::client::HttpConnector;
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Client, Request, Response, Server};
use std::convert::Infallible;
use std::env;
use std::time::Duration;

type Http = Client<HttpConnector>;

const LATER_MS: u64 = 5;

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

async fn call(client: Http, truth: String) {
    let target = format!("http://{}/", env::var("UPSTREAM").expect("UPSTREAM"));
    let request = Request::get(target)
        .header("x-truth", truth)
        .body(Body::empty())
        .expect("a request");

    match client.request(request).await {
        Ok(answer) => {
            let _ = hyper::body::to_bytes(answer.into_body()).await;
        }
        Err(error) => eprintln!("{error}"),
    }
}

async fn outlive(client: Http) {
    pause(LATER_MS).await;
    call(client, "none".into()).await;
}

async fn all_calls(client: &Http, truth: &str, mode: &str, calls: u64, between: u64) {
    if mode == "p" {
        join_all((0..calls).map(|_| call(client.clone(), truth.into()))).await;
        return;
    }
    for i in 0..calls {
        if i > 0 {
            pause(between).await;
        }
        if mode == "t" {
            let _ = tokio::spawn(call(client.clone(), truth.into())).await;
        } else {
            call(client.clone(), truth.into()).await;
        }
    }
    if mode == "o" {
        tokio::spawn(outlive(client.clone()));
    }
}

async fn serve(client: Http, request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let part: Vec<&str> = request.uri().path()[1..].split('/').collect();
    let number: Vec<u64> = part[..4].iter().map(|n| n.parse().unwrap_or(0)).collect();
    let truth = request.headers().get("x-truth").map_or("", |v| v.to_str().unwrap_or(""));
    let bytes = env::var("BYTES").map_or(2, |n| n.parse().expect("BYTES"));

    pause(number[0]).await;
    all_calls(&client, truth, part[4], number[3], number[1]).await;
    pause(number[2]).await;
    Ok(Response::new(Body::from("o".repeat(bytes))))
}

async fn listen(address: &str) {
    let client = Client::new();
    let service = make_service_fn(move |_| {
        let client = client.clone();
        async move { Ok::<_, Infallible>(service_fn(move |r| serve(client.clone(), r))) }
    });

    Server::bind(&address.parse().expect("ADDRESS:PORT"))
        .serve(service)
        .await
        .expect("to serve");
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let mut builder = match arguments.get(2) {
        None => tokio::runtime::Builder::new_current_thread(),
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
    };

    if let Some(threads) = arguments.get(2) {
        builder.worker_threads(threads.parse().expect("THREADS"));
    }
    builder
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(listen(&arguments[1]));
}
