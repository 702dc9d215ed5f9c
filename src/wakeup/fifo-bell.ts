import { Socket } from "node:net";
import { makeOwnFifos, openOwnFifo, touchFifo } from "../os/files/fifo.ts";
import { type Bell, ManualBell, type RingResult } from "./bell.ts";

/** Functions to call in addition to ringing a FIFO, by the FIFO's path. */
const extraRings = new Map<string, Set<() => void>>();

/**
 * Registers a function to call whenever this process rings the FIFO: it rings the socket pair shared with the FIFO's owner.
 * Senders need not know about it.
 * @returns a function that unregisters it
 */
export function alsoRing(path: string, ring: () => void): () => void {
  const rings = extraRings.get(path) ?? new Set();
  extraRings.set(path, rings.add(ring));
  return () => {
    rings.delete(ring);
    if (rings.size === 0) extraRings.delete(path);
  };
}

/** Calls the functions registered for a FIFO. @returns true if at least one is registered */
function ringAlso(path: string): boolean {
  const rings = extraRings.get(path);
  for (const ring of rings ?? []) ring();
  return rings !== undefined;
}

/** A bell that other processes ring by its path. */
export interface FifoBell extends Bell {
  /** True if a ring by its path still reaches it. */
  isInPlace(): boolean;
}

/**
 * Opens the owner's end of a FIFO for reading and writing, so that it never reads end-of-file, and costs nothing while idle. Rings
 * before the first wait stay in the FIFO: reading needs `node:net`, which an agent loads only once it is ready. From the first
 * wait on, the bell keeps the process alive until it is closed.
 * @throws TeamError PERMISSION_DENIED if the path is not a FIFO of this user; a system error if it is missing
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
    // Wake the reader. Later rings may be lost; then only the timer bell wakes it.
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

/** Creates missing FIFOs, mode 0600, with one fork for all. Their directories must exist. */
export function makeFifos(paths: readonly string[]): Promise<void> {
  return makeOwnFifos(paths);
}

/**
 * Rings a FIFO bell and calls the functions of {@link alsoRing}; never blocks and never throws. Returns `unheard` if no function is
 * registered and the FIFO is missing, belongs to another user, or is not open in any process.
 */
export function ring(path: string): RingResult {
  const hasExtra = ringAlso(path);
  return touchBell(path) || hasExtra ? "rung" : "unheard";
}

function touchBell(path: string): boolean {
  try {
    return touchFifo(path);
  } catch {
    // A bell may be lost: the caller has written its message and must not fail now.
    return false;
  }
}
