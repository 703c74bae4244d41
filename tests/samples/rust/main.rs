// SPDX-License-Identifier: Apache-2.0

//! server PORT one|threads [background]: hyper on tokio, on one thread or on four. Two slices of CPU for each request, with a
//! pause between them. background: a task burns for nobody. Environment: TRUTH, a file: one line for each slice.

use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Request, Response, Server};
use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

const SLICE_NS: i64 = 2_000_000;
const PAUSE: Duration = Duration::from_millis(2);
const BACKGROUND: Duration = Duration::from_millis(20);
const THREADS: usize = 4;

static TRUTH: OnceLock<File> = OnceLock::new();

fn now(clock: libc::clockid_t) -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };

    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn spin(factor: u64) {
    let end = now(libc::CLOCK_THREAD_CPUTIME_ID) + SLICE_NS;
    let mut value: u64 = 1;

    while now(libc::CLOCK_THREAD_CPUTIME_ID) < end {
        for i in 0..1000 {
            value = black_box(value.wrapping_mul(factor).wrapping_add(i));
        }
    }
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn burn_a() {
    spin(black_box(31));
    black_box(());
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn burn_b() {
    spin(black_box(37));
    black_box(());
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn burn_background() {
    spin(black_box(41));
    black_box(());
}

/// For the request with this id, whose first letter is its endpoint, "-": for none.
fn burn_slice(id: &str) {
    let start = now(libc::CLOCK_MONOTONIC);

    match id.as_bytes()[0] {
        b'a' => burn_a(),
        b'b' => burn_b(),
        _ => burn_background(),
    }
    let end = now(libc::CLOCK_MONOTONIC);
    let (process, thread) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    let line = format!("{process} {thread} {start} {end} {id}\n");

    let _ = TRUTH.get().expect("a file").write_all(line.as_bytes());
}

async fn serve(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let id = request.uri().query().unwrap_or("-").to_string();

    burn_slice(&id);
    tokio::time::sleep(PAUSE).await;
    burn_slice(&id);
    Ok(Response::new(Body::from("ok")))
}

async fn burn_on() {
    loop {
        burn_slice("-");
        tokio::time::sleep(BACKGROUND).await;
    }
}

async fn listen(port: u16, background: bool) {
    let service = make_service_fn(|_| async { Ok::<_, Infallible>(service_fn(serve)) });

    if background {
        tokio::spawn(burn_on());
    }
    Server::bind(&SocketAddr::from(([0, 0, 0, 0], port)))
        .serve(service)
        .await
        .expect("to serve");
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let path = std::env::var("TRUTH").unwrap_or("/dev/null".into());
    let file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
    let mut builder = match arguments[2].as_str() {
        "one" => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };

    let _ = TRUTH.set(file);
    if arguments[2] != "one" {
        builder.worker_threads(THREADS);
    }
    builder
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(listen(arguments[1].parse().expect("PORT"), arguments.len() > 3));
}
