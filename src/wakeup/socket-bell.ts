import { Socket } from "node:net";
import { type Bell, ManualBell } from "./bell.ts";

/** One end of an anonymous socket pair: the bell of this side, which can also ring the other side. */
export interface SocketBell extends Bell {
  /** Rings the other end; does nothing if that is gone. */
  ring(): void;
}

/**
 * Opens a bell between a long-lived parent and its child, in addition to their FIFOs (it is descriptor 3 of the child). If the
 * connection breaks, the bell never rings again. It does not keep the process alive.
 * @param end the parent's `child.stdio[3]`, or a descriptor
 */
export function socketBell(end: Socket | number): SocketBell {
  const socket = typeof end === "number" ? new Socket({ fd: end, readable: true, writable: true }) : end;
  const rings = new ManualBell(() => socket.destroy());
  socket.unref();
  socket.on("data", () => rings.ring());
  // The other process has ended; the exit record and the lifeline report that.
  socket.on("error", () => socket.destroy());
  return {
    wait: (options) => rings.wait(options),
    close: () => rings.close(),
    ring: () => {
      // One unread byte is enough to wake the other end; more would only fill the buffer.
      if (socket.writable && socket.writableLength === 0) socket.write("\n");
    },
  };
}
