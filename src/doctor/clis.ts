import { type InstalledCli, installedClis } from "../adapter/installed/installed-clis.ts";
import { supportedVersionHint } from "../adapter/installed/version-check.ts";
import type { Env } from "../os/env.ts";
import { type Finding, ok, warn } from "./finding.ts";
import { readableSettings } from "./readable-settings.ts";

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
  const own = readableSettings(root, cwd)?.teams.adapters ?? {};
  const clis = await installedClis(own, env, signal);
  const missing = clis.filter(({ program }) => program === null);
  return [
    ...clis.filter(({ program }) => program !== null).flatMap(findingOf),
    ...(missing.length === 0 ? [] : [ok("CLIs", `not installed: ${missing.map(howToInstall).join(", ")}`)]),
  ];
}

function howToInstall({ name, install }: InstalledCli): string {
  return install === null ? name : `${name} (${install})`;
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
