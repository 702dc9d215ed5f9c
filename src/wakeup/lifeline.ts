import { Socket } from "node:net";
import { openFifoReader } from "../os/fifo.ts";

export interface Lifeline {
  /** Resolves when the process that held the other end is gone, however it ended. Never rejects. */
  readonly ended: Promise<void>;
  close(): void;
}

/**
 * Watches the FIFO that an agent's launch script holds open: end-of-file says that the script is gone, even by SIGKILL
 * (tmux-findings.md section 2). It tells of an end that comes after this call, so watch first and then look whether it
 * still lives. On macOS a FIFO gives no such end; bells and the slow check remain.
 * @throws TeamError PERMISSION_DENIED when the path is no FIFO of ours; a system error when it is missing
 */
export function watchLifeline(path: string): Lifeline {
  const socket = new Socket({ fd: openFifoReader(path), readable: true, writable: false });
  let onEnd: () => void;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  socket.on("end", () => onEnd());
  // A line that breaks is an end as well: whoever watches looks at the records then.
  socket.on("error", () => onEnd());
  socket.resume();
  return { ended, close: () => socket.destroy() };
}
