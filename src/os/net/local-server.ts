import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createProcessDirectory } from "../process/process-directory.ts";

/** A directory for a socket that only this user's processes can reach. */
export interface SocketDirectory {
  /** The path of the socket. */
  readonly path: string;
  /** Is removed with the socket. */
  readonly directory: string;
  remove(): void;
}

/**
 * Creates a private directory for a socket in `/tmp/teams-<uid>`: the path of a socket is limited to about a hundred characters.
 * @throws TeamError PERMISSION_DENIED
 */
export function createSocketDirectory(): SocketDirectory {
  const { path: directory, remove } = createProcessDirectory("socket");
  return { path: join(directory, "s"), directory, remove };
}

/** Listens on a socket. @returns a function that ends all connections, and removes the socket and its directory */
export async function listenLocally(
  { path, remove }: SocketDirectory,
  onConnection: (socket: Socket) => void,
): Promise<() => void> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // A reset means only that the other side is gone.
    socket.on("error", () => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return () => {
    server.close();
    for (const socket of open) socket.destroy();
    remove();
  };
}
