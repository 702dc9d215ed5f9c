import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { after } from "../clock.ts";
import type { Env } from "../env.ts";
import { OutputTail } from "../process/output-tail.ts";
import { networkHolderArgs } from "./bubblewrap.ts";
import type { SandboxTool } from "./find-sandbox.ts";

/** Port of the proxy inside the network of a sandbox. The network is new, so the port is free. */
export const INNER_PROXY_PORT = 3128;

/** Time limit in milliseconds for the holder to start; Node's own start takes most of them. */
const START_MS = 10_000;

/** Passes connections to the proxy's port on to its socket, which the network cannot reach. */
const FORWARDER = `
const net = require("node:net");
const [path, port] = process.argv.slice(1);
process.stdin.resume().on("end", () => process.exit());
net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path, allowHalfOpen: true });
  inner.on("error", () => outer.destroy()).on("close", () => outer.destroy());
  outer.on("error", () => inner.destroy()).on("close", () => inner.destroy());
  inner.pipe(outer).pipe(inner);
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));`;

const WAITING_SHELL = ["/bin/sh", "-c", "echo ready; exec cat"];

interface NetworkOptions {
  readonly tool: SandboxTool & { readonly nsenter: string };
  readonly env: Env;
  /** Socket of a proxy; without one, the network has no way out. */
  readonly proxySocket?: string | undefined;
}

interface Holder {
  readonly child: ChildProcess;
  readonly pid: number;
}

/**
 * A network that the commands of one agent share, so that one command reaches the server that another command started. A
 * holder process keeps the network open, and ends with this process.
 */
export class SharedNetwork {
  readonly #options: NetworkOptions;
  #holder: Promise<Holder> | undefined;
  #isClosed = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Returns the words to put before a program so that it runs in the network. @throws Error if the network cannot be created */
  async entry(): Promise<readonly string[]> {
    if (this.#isClosed) throw new Error("The network of the sandbox is closed.");
    this.#holder ??= this.#start();
    try {
      const { pid } = await this.#holder;
      return [this.#options.tool.nsenter, "--preserve-credentials", "-U", "-n", "-t", String(pid)];
    } catch (error) {
      this.#holder = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const holder = await this.#holder?.catch(() => undefined);
    holder?.child.kill("SIGKILL");
  }

  async #start(): Promise<Holder> {
    const { tool, env, proxySocket } = this.#options;
    const program =
      proxySocket === undefined
        ? WAITING_SHELL
        : [process.execPath, "-e", FORWARDER, proxySocket, String(INNER_PROXY_PORT)];
    const child = spawn(tool.file, networkHolderArgs(3, program), {
      env: { PATH: env.PATH },
      cwd: "/",
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    // The holder must not keep this process alive, and ends with it: its stdin closes.
    child.unref();
    for (const stream of child.stdio) (stream as unknown as { unref?(): void } | null)?.unref?.();
    child.stdin?.on("error", () => undefined);
    child.once("exit", () => {
      this.#holder = undefined;
    });
    try {
      const [info] = await withLimit(
        Promise.all([
          textUntil(child, child.stdio[3] as Readable, "}"),
          textUntil(child, child.stdout as Readable, "ready"),
        ]),
      );
      return { child, pid: (JSON.parse(info) as { "child-pid": number })["child-pid"] };
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }
}

function withLimit<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = after(START_MS, () =>
      reject(new Error(`The network of the sandbox did not start within ${START_MS / 1000} s.`)),
    );
    work.then(resolve, reject).finally(stop);
  });
}

/** Reads a stream until it contains a text. Rejects if the process ends first. */
function textUntil(child: ChildProcess, stream: Readable, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const problem = new OutputTail(500);
    child.stderr?.on("data", (bytes: Buffer) => problem.add(bytes));
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes(end)) resolve(text);
    });
    child.once("error", reject);
    child.once("close", () =>
      reject(
        new Error(`The network of the sandbox could not be created: ${problem.text.trim() || "no message"}`),
      ),
    );
  });
}
