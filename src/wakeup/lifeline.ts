import { Socket } from "node:net";
import { openFifoReader, openOwnFifo } from "../os/files/fifo.ts";

export interface Lifeline {
  /** Resolves when the last process that held the other end is gone, even by SIGKILL. Never rejects. */
  readonly ended: Promise<void>;
  /** False if the FIFO was removed or recreated; then open the lifeline again. */
  isInPlace(): boolean;
  close(): void;
}

/**
 * Watches the FIFO that an agent's launch script holds open: end-of-file means that the script is gone, even by SIGKILL
 * (tmux-findings.md section 2). It notices only an end after this call, so watch first, then check whether the agent is alive. On
 * macOS a FIFO reports no end; bells and the timer bell remain.
 * @throws TeamError PERMISSION_DENIED if the path is not a FIFO of this user; a system error if it is missing
 */
export function watchLifeline(path: string): Lifeline {
  const { fd, isInPlace } = openFifoReader(path);
  const socket = new Socket({ fd, readable: true, writable: false });
  let onEnd: () => void;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  socket.on("end", () => onEnd());
  // Treat an error as an end: the watching process then checks the records.
  socket.on("error", () => onEnd());
  socket.resume();
  return { ended, isInPlace, close: () => socket.destroy() };
}

/**
 * Holds a lifeline open, in addition to the launch script or without one. For its watchers, it ends with the last holder.
 * @throws as {@link watchLifeline}
 */
export function holdLifeline(path: string): Pick<Lifeline, "isInPlace" | "close"> {
  return openOwnFifo(path);
}
