import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { wellFormed } from "../../text/characters/well-formed.ts";

/** Returns a stream that sends no lone surrogates: most parsers would refuse the whole message. */
export function wellFormedStream({ readable, writable }: Stream): Stream {
  const writer = writable.getWriter();
  const own = new WritableStream<AnyMessage>({
    write: (message) => writer.write(wellFormed(message)),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return { readable, writable: own };
}
