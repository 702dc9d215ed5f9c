import { type InstalledCli, installedClis } from "../adapter/installed/installed-clis.ts";
import { supportedVersionHint } from "../adapter/installed/version-check.ts";
import type { Env } from "../os/env.ts";
import { loadSettings } from "../settings/settings.ts";
import { type Finding, ok, warn } from "./finding.ts";

/**
 * Checks the installed third-party CLIs: their version, their login and their Node.js.
 * @param signal ends the programs that print their version
 */
export async function cliFindings(
  root: string,
  cwd: string,
  env: Env,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const clis = await installedClis(ownAdapters(root, cwd), env, signal);
  const missing = clis.filter(({ program }) => program === null);
  return [
    ...clis.filter(({ program }) => program !== null).flatMap(findingOf),
    ...(missing.length === 0 ? [] : [ok("CLIs", `not installed: ${missing.map(howToInstall).join(", ")}`)]),
  ];
}

function howToInstall({ name, install }: InstalledCli): string {
  return install === null ? name : `${name} (${install})`;
}

/** Returns no adapters for settings that cannot be read: settingsFindings reports them. */
function ownAdapters(root: string, cwd: string): Parameters<typeof installedClis>[0] {
  try {
    return loadSettings(root, cwd).teams.adapters;
  } catch {
    return {};
  }
}

function findingOf(cli: InstalledCli): Finding {
  const { name, command, version, problem, tested, rank, refused, login, node } = cli;
  const subject = `CLI ${name}`;
  if (problem !== null)
    return warn(subject, `its version is not known: ${problem}`, `Run ${command} to see the problem.`);
  if (refused !== null)
    return warn(subject, `${version} cannot be started: ${refused}`, supportedVersionHint(tested));
  if (node?.isEnough === false)
    return warn(
      subject,
      `${version} needs Node.js ${node.needed}, and the PATH has ${node.found}`,
      `Put Node.js ${node.needed} first on the PATH.`,
    );
  const versions =
    (tested.length === 0 ? "" : `${rank === "untested" ? " (untested)" : ""}, tested: ${tested.join(", ")}`) +
    (node === null ? "" : `, Node.js ${node.needed}`);
  if (login.state === "none")
    return warn(
      subject,
      `${version}${versions}; no login found`,
      login.hint === null ? `Log in with ${command}.` : `Log in: ${login.hint}.`,
    );
  const known = login.from === null ? "whether it is logged in is not known" : `login: ${login.from}`;
  return ok(subject, `${version}${versions}; ${known}`);
}
