import { connect } from "node:net";
import { messageOf } from "../../errors.ts";

/** Connects to the server of a URL, and sends nothing. @returns why that failed within `ms` milliseconds */
export function connectionProblem(url: URL, ms: number): Promise<string | undefined> {
  const { hostname, port, protocol } = url;
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
    timeout: ms,
  });
  return new Promise<string | undefined>((resolve) => {
    socket.once("connect", () => resolve(undefined));
    socket.once("timeout", () => resolve(`no connection within ${ms / 1000} s`));
    socket.once("error", (error) => resolve(messageOf(error)));
  }).finally(() => socket.destroy());
}
