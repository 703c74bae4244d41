// SPDX-License-Identifier: Apache-2.0
// A server of .NET's (HttpListener): what a request wants is done by whichever thread of the pool
// is free, and a later part of it by another one.
//
// The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is who calls: s tasks
// of the request, one after the other; p all at once; t those of other threads, that wait for the
// answers; b the thread that has the request, which waits; j threads that take jobs out of a queue.
using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

class Job
{
    public string Truth;
    public readonly TaskCompletionSource<int> Done = new TaskCompletionSource<int>();
}

class Plan
{
    public readonly int Before, Between, After, Calls;
    public readonly char Mode;

    public Plan(string path)
    {
        var words = path.Split('/');
        Before = int.Parse(words[1]);
        Between = int.Parse(words[2]);
        After = int.Parse(words[3]);
        Calls = int.Parse(words[4]);
        Mode = words[5][0];
    }
}

static class Server
{
    const int Takers = 8, Connections = 200, Threads = 64;
    static readonly string upstream = "http://" + Environment.GetEnvironmentVariable("UPSTREAM") + "/";
    static readonly HttpClient client = new HttpClient();
    static readonly BlockingCollection<Job> jobs = new BlockingCollection<Job>();

    static async Task Call(string truth)
    {
        var message = new HttpRequestMessage(HttpMethod.Get, upstream);
        message.Headers.Add("x-truth", truth);
        using (var answer = await client.SendAsync(message).ConfigureAwait(false))
            await answer.Content.ReadAsStringAsync().ConfigureAwait(false);
    }

    static void CallAndWait(string truth)
    {
        var request = WebRequest.Create(upstream);
        request.Headers.Add("x-truth", truth);
        using (var answer = request.GetResponse())
            answer.GetResponseStream().CopyTo(System.IO.Stream.Null);
    }

    static void Take()
    {
        foreach (var job in jobs.GetConsumingEnumerable())
        {
            CallAndWait(job.Truth);
            job.Done.SetResult(0);
        }
    }

    static Task Order(string truth)
    {
        var job = new Job { Truth = truth };
        jobs.Add(job);
        return job.Done.Task;
    }

    static async Task CallInTurn(Plan plan, Func<Task> call)
    {
        for (int i = 0; i < plan.Calls; i++)
        {
            if (i > 0)
                await Task.Delay(plan.Between);
            await call();
        }
    }

    static Task Work(Plan plan, string truth)
    {
        switch (plan.Mode)
        {
        case 'p':
            return Task.WhenAll(Enumerable.Range(0, plan.Calls).Select(_ => Call(truth)));
        case 't':
            return Task.WhenAll(Enumerable.Range(0, plan.Calls)
                                    .Select(_ => Task.Run(() => CallAndWait(truth))));
        case 'b':
            return CallInTurn(plan, () => { CallAndWait(truth); return Task.FromResult(0); });
        case 'j':
            return CallInTurn(plan, () => Order(truth));
        default:
            return CallInTurn(plan, () => Call(truth));
        }
    }

    static async Task Serve(HttpListenerContext context)
    {
        var plan = new Plan(context.Request.Url.AbsolutePath);
        await Task.Delay(plan.Before);
        await Work(plan, context.Request.Headers["x-truth"] ?? "none");
        await Task.Delay(plan.After);
        context.Response.Close(Encoding.ASCII.GetBytes("ok"), false);
    }

    static void Main(string[] arguments)
    {
        var listener = new HttpListener();
        ServicePointManager.DefaultConnectionLimit = Connections;
        ThreadPool.SetMinThreads(Threads, Threads);
        for (int i = 0; i < Takers; i++)
            new Thread(Take) { IsBackground = true }.Start();
        listener.Prefixes.Add("http://*:" + arguments[0] + "/");
        listener.Start();
        while (true)
        {
            var context = listener.GetContext();
            Task.Run(() => Serve(context));
        }
    }
}
