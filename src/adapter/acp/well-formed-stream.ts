import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { wellFormed } from "../../text/characters/well-formed.ts";

/** Returns a stream whose other end gets no half of a surrogate pair: most parsers refuse the whole message then. */
export function wellFormedStream({ readable, writable }: Stream): Stream {
  const writer = writable.getWriter();
  const own = new WritableStream<AnyMessage>({
    write: (message) => writer.write(wellFormed(message)),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return { readable, writable: own };
}
