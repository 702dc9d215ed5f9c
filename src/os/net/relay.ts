import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileAccessError } from "../../errors.ts";

/** Passes bytes between two streams and a local socket, until one side ends. @throws TeamError PERMISSION_DENIED if it cannot connect */
export async function relayTo(path: string, input: Readable, output: Writable): Promise<void> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", (error) => reject(fileAccessError(path, "read", error)));
  });
  // The end of either side ends the relay; an error then only means that the other side is gone.
  const ends = [pipeline(input, socket), pipeline(socket, output)];
  await Promise.race(ends).catch(() => undefined);
  socket.destroy();
  input.destroy();
  for (const end of ends) end.catch(() => undefined);
}
