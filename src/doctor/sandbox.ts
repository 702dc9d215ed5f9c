import type { Env } from "../os/env.ts";
import { findSandbox, type NoSandbox, type SandboxTool } from "../os/sandbox/find-sandbox.ts";
import type { SandboxMode } from "../schema/permission-modes.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { readableSettings } from "./readable-settings.ts";

/** Checks whether this machine has the sandbox that the settings of a directory want. */
export async function checkSandbox(root: string, cwd: string, env: Env): Promise<Finding> {
  const mode = readableSettings(root, cwd)?.teams.sandbox.mode ?? "off";
  return judgeSandbox(mode, await findSandbox(env));
}

/** Judges the sandbox of this machine by the mode that the settings want. Pure. */
export function judgeSandbox(mode: SandboxMode, found: SandboxTool | NoSandbox): Finding {
  if ("reason" in found) {
    if (mode === "off") return ok("sandbox", `off; this machine has no sandbox: ${found.reason}`);
    const effect = mode === "required" ? "no agent starts" : "agents' commands run as you";
    const report = mode === "required" ? fail : warn;
    return report("sandbox", `${mode}, but ${found.reason}; ${effect}`, found.remedy);
  }
  const gaps = gapsOf(found);
  const works = [`${found.kind} works`, ...gaps.map(({ effect }) => effect)].join(", but ");
  if (mode === "off") return ok("sandbox", `off; ${works}: set teams.sandbox.mode to auto`);
  if (gaps.length === 0) return ok("sandbox", `${mode}, ${works}`);
  return warn("sandbox", `${mode}, ${works}`, gaps.map(({ remedy }) => remedy).join(" "));
}

/** Names the protection that a working sandbox lacks on this machine. */
function gapsOf({ kind, nsenter, openNamespacesReason }: SandboxTool) {
  if (kind !== "bubblewrap") return [];
  const namespaces = {
    effect: `a command can undo the protection of git's files, in its own user namespace (${openNamespacesReason})`,
    remedy:
      "Install bubblewrap 0.8 or newer; start a container with --security-opt systempaths=unconfined, so that /proc/sys is writable.",
  };
  const network = {
    effect: "nsenter is missing; commands cannot share a network",
    remedy: "Install util-linux.",
  };
  return [
    ...(openNamespacesReason === undefined ? [] : [namespaces]),
    ...(nsenter === undefined ? [network] : []),
  ];
}
