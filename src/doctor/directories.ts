import { dirname, join } from "node:path";
import { messageOf } from "../errors.ts";
import { isWritable } from "../os/files/access.ts";
import { ensureOwnDirectory, ownUid } from "../os/files/app-directories.ts";
import { entryOf, isDirectory } from "../os/files/fs.ts";
import { operand } from "../text/shell-quote.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Checks the directory of teams, inboxes and tasks. Creates nothing. */
export function checkRoot(root: string): Finding {
  const name = "root directory";
  const existing = nearestExisting(root);
  if (!isDirectory(existing)) {
    return fail(
      name,
      `${existing} is not a directory`,
      "Move that file away, or set TEAMS_HOME to another directory.",
    );
  }
  if (!isWritable(existing)) {
    return fail(
      name,
      `${existing} is not writable`,
      "Take ownership of it (chown, chmod u+w), or set TEAMS_HOME to another directory.",
    );
  }
  if (existing !== root) return ok(name, `${root} will be created`);
  const open = [root, join(root, "teams"), join(root, "tasks")].filter(isWritableByOthers);
  if (open.length > 0) {
    return warn(
      name,
      `other users can write to ${open.join(", ")} and so act as your agents`,
      `Remove their access: chmod go-w ${open.map(operand).join(" ")}`,
    );
  }
  return ok(name, root);
}

/** Checks the directory of the bells: only this user may have access. Creates nothing. */
export function checkRuntime(runtime: string): Finding {
  const name = "runtime directory";
  if (entryOf(runtime) === undefined) {
    const above = nearestExisting(runtime);
    if (isWritable(above)) return ok(name, `${runtime} will be created`);
    return fail(
      name,
      `${above} is not writable`,
      "Set XDG_RUNTIME_DIR to a directory of your own (mode 700).",
    );
  }
  try {
    ensureOwnDirectory(runtime);
    return ok(name, runtime);
  } catch (error) {
    return fail(name, messageOf(error), runtimeRemedy(runtime));
  }
}

/** Returns the remedy. Only the owner can change a directory's mode, and a link has no mode. */
function runtimeRemedy(runtime: string): string {
  const set = "set XDG_RUNTIME_DIR to a directory of your own (mode 700)";
  const entry = entryOf(runtime);
  if (entry?.isSymbolicLink()) return `rm ${operand(runtime)}, or ${set}.`;
  return entry?.isDirectory() && entry.uid === ownUid()
    ? `chmod 700 ${operand(runtime)}, or ${set}.`
    : `S${set.slice(1)}.`;
}

function isWritableByOthers(path: string): boolean {
  const entry = entryOf(path);
  return entry !== undefined && !entry.isSymbolicLink() && (Number(entry.mode) & 0o022) !== 0;
}

function nearestExisting(path: string): string {
  let at = path;
  while (entryOf(at) === undefined && dirname(at) !== at) at = dirname(at);
  return at;
}
