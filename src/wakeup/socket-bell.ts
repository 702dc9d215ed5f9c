import { Socket } from "node:net";
import { type Bell, ManualBell } from "./bell.ts";

/** One end of an anonymous socket pair: a bell for this side, and the means to ring the other. */
export interface SocketBell extends Bell {
  /** Rings the other end; when that is gone, nothing happens. */
  ring(): void;
}

/**
 * The bell between a parent that stays and its child, beside their FIFOs (the child finds it as descriptor 3). Its loss
 * means nothing: it is then never rung again. It does not keep the process alive.
 * @param end the parent's `child.stdio[3]`, or a descriptor
 */
export function socketBell(end: Socket | number): SocketBell {
  const socket = typeof end === "number" ? new Socket({ fd: end, readable: true, writable: true }) : end;
  const rings = new ManualBell(() => socket.destroy());
  socket.unref();
  socket.on("data", () => rings.ring());
  // The other end died; that is told elsewhere (exit record, lifeline).
  socket.on("error", () => socket.destroy());
  return {
    wait: (options) => rings.wait(options),
    close: () => rings.close(),
    ring: () => {
      // One unread byte is enough to wake; a backlog would only grow.
      if (socket.writable && socket.writableLength === 0) socket.write("\n");
    },
  };
}
