import { Socket } from "node:net";
import { makeOwnFifos, openOwnFifo, touchFifo } from "../os/files/fifo.ts";
import { type Bell, type RingResult, ManualBell } from "./bell.ts";
/** What is rung beside a FIFO, by the FIFO's path. */
const extraRings = new Map<string, Set<() => void>>();

/**
 * Whenever this process rings that FIFO, something else is rung too: the socket pair that it shares with the FIFO's owner
 * (architecture.md rule 1). Whoever sends needs to know of neither.
 * @returns ends it
 */
export function alsoRing(path: string, ring: () => void): () => void {
  const rings = extraRings.get(path) ?? new Set();
  extraRings.set(path, rings.add(ring));
  return () => {
    rings.delete(ring);
    if (rings.size === 0) extraRings.delete(path);
  };
}

/** Rings what stands beside a FIFO. @returns whether there was anything */
function ringAlso(path: string): boolean {
  const rings = extraRings.get(path);
  for (const ring of rings ?? []) ring();
  return rings !== undefined;
}

/** A bell that others ring by its path. */
export interface FifoBell extends Bell {
  /** Whether a ring by its path still reaches it. */
  isInPlace(): boolean;
}

/**
 * The owner's end of a FIFO: open for reading and writing, so that it costs nothing in idle and never ends. What rings before
 * the first wait stays in the FIFO until then: to read it takes `node:net`, which an agent loads once it is ready. From that
 * wait on it keeps the process alive, until it is closed.
 * @throws TeamError PERMISSION_DENIED when the path is no FIFO of ours; a system error when it is missing
 */
export function openFifoBell(path: string): FifoBell {
  const fifo = openOwnFifo(path);
  let socket: Socket | undefined;
  let closed = false;
  const rings = new ManualBell(() => {
    closed = true;
    if (socket === undefined) fifo.close();
    else socket.destroy();
  });
  const read = (): Socket => {
    const reader = new Socket({ fd: fifo.fd, readable: true, writable: false });
    reader.on("data", () => rings.ring());
    // A broken bell is a lost bell, and a bell may be lost: the slow check remains.
    reader.on("error", () => rings.ring());
    return reader;
  };
  return {
    wait: (options) => {
      if (!closed) socket ??= read();
      return rings.wait(options);
    },
    close: () => rings.close(),
    isInPlace: fifo.isInPlace,
  };
}

/** Makes FIFOs, mode 0600, with one fork for all; those that are there stay. Their directories must exist. */
export function makeFifos(paths: readonly string[]): Promise<void> {
  return makeOwnFifos(paths);
}

/**
 * Rings somebody's FIFO bell, and what this process knows beside it; never blocks and never throws. "nobody": no such FIFO
 * of ours, or no process has it open, and nothing stands beside it.
 */
export function ring(path: string): RingResult {
  const beside = ringAlso(path);
  return touchBell(path) || beside ? "rung" : "nobody";
}

function touchBell(path: string): boolean {
  try {
    return touchFifo(path);
  } catch {
    // A bell may be lost (architecture.md rule 1); whoever rings has done what it tells of, and must not seem to have failed.
    return false;
  }
}
