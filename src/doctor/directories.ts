import { dirname, join } from "node:path";
import { messageOf } from "../errors.ts";
import { isWritable } from "../os/files/access.ts";
import { ensureOwnDirectory, ownUid } from "../os/files/app-directories.ts";
import { entryOf, isDirectory } from "../os/files/fs.ts";
import { operand } from "../text/shell-quote.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Where teams, inboxes and tasks are. Nothing is made. */
export function checkRoot(root: string): Finding {
  const name = "root directory";
  const there = nearestExisting(root);
  if (!isDirectory(there)) {
    return fail(
      name,
      `${there} is not a directory`,
      "Move that file away, or set TEAMS_HOME to another directory.",
    );
  }
  if (!isWritable(there)) {
    return fail(
      name,
      `${there} cannot be written to`,
      "Make it yours (chown, chmod u+w), or set TEAMS_HOME.",
    );
  }
  if (there !== root) return ok(name, `${root} will be made`);
  const open = [root, join(root, "teams"), join(root, "tasks")].filter(isWritableByOthers);
  if (open.length > 0) {
    return warn(
      name,
      `${open.join(", ")} can be written to by others`,
      `They could act as your agents: chmod go-w ${open.map(operand).join(" ")}`,
    );
  }
  return ok(name, root);
}

/** Where the bells are: it must be this user's alone. Nothing is made. */
export function checkRuntime(runtime: string): Finding {
  const name = "runtime directory";
  if (entryOf(runtime) === undefined) {
    const above = nearestExisting(runtime);
    if (isWritable(above)) return ok(name, `${runtime} will be made`);
    return fail(
      name,
      `${above} cannot be written to`,
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

/** A mode is only its owner's to change, and a link has none. */
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
