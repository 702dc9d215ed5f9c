import { request } from "node:http";

/**
 * Sends the head of a request and some bytes of its body, but not its end: the client has nothing left to write when the answer comes,
 * so a connection that the server closes loses no answer.
 * @returns the status of the answer
 */
export function statusOfUnfinished(
  url: string,
  headers: Readonly<Record<string, string>>,
  bytes: number,
): Promise<number | undefined> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.on("error", reject);
    sent.flushHeaders();
    if (bytes > 0) sent.write(Buffer.alloc(bytes, "x"));
  });
}
