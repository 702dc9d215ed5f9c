import { Socket } from "node:net";
import { openFifoReader, openOwnFifo } from "../os/files/fifo.ts";

export interface Lifeline {
  /** Resolves when the process that held the other end is gone, however it ended. Never rejects. */
  readonly ended: Promise<void>;
  /** Whether its path still leads to it; one that was made anew has to be watched anew. */
  isInPlace(): boolean;
  close(): void;
}

/**
 * Watches the FIFO that an agent's launch script holds open: end-of-file says that the script is gone, even by SIGKILL
 * (tmux-findings.md section 2). It tells of an end that comes after this call, so watch first and then look whether it
 * still lives. On macOS a FIFO gives no such end; bells and the slow check remain.
 * @throws TeamError PERMISSION_DENIED when the path is no FIFO of ours; a system error when it is missing
 */
export function watchLifeline(path: string): Lifeline {
  const { fd, isInPlace } = openFifoReader(path);
  const socket = new Socket({ fd, readable: true, writable: false });
  let onEnd: () => void;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  socket.on("end", () => onEnd());
  // A line that breaks is an end as well: whoever watches looks at the records then.
  socket.on("error", () => onEnd());
  socket.resume();
  return { ended, isInPlace, close: () => socket.destroy() };
}

/**
 * Holds a lifeline open beside the launch script, or where there is none: for those who watch it, it ends with the last
 * of its holders.
 * @throws as {@link watchLifeline}
 */
export function holdLifeline(path: string): Pick<Lifeline, "isInPlace" | "close"> {
  return openOwnFifo(path);
}
