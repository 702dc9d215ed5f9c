import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { isDirectory } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import type { TmuxSocket } from "./server.ts";

/** Returns the path of a server's socket as tmux finds it, links resolved; the socket may be missing. */
export function socketPath(socket: TmuxSocket, { TMUX_TMPDIR }: Env): string {
  if (socket !== undefined && "path" in socket) return realPathOf(socket.path);
  // tmux ignores a missing $TMUX_TMPDIR.
  const parent = TMUX_TMPDIR && isDirectory(TMUX_TMPDIR) ? TMUX_TMPDIR : "/tmp";
  return realPathOf(join(parent, `tmux-${process.getuid?.()}`, socket?.name ?? "default"));
}
