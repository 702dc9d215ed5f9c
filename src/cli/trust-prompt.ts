import { systemClock } from "../os/clock.ts";
import { loadSettings } from "../settings/settings.ts";
import { setTrust, trustDecision } from "../settings/trust.ts";
import { teamsHome } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";

/**
 * Asks the user, once for each repository, whether to trust this directory's files (protocol.md section 1, Trust). Does not
 * ask without a terminal, or if the directory has no such files.
 */
export async function askTrust({ io, out, options }: AnyCall): Promise<void> {
  if (out.json || options.quiet || !io.terminal.stdin || !io.terminal.stdout) return;
  const { root } = teamsHome(io.env);
  const { ignored } = loadSettings(root, io.cwd);
  if (ignored.length === 0 || trustDecision(root, io.cwd) !== undefined) return;
  io.out("This directory has its own settings, which can run commands as you:\n");
  for (const entry of ignored) io.out(line`  ${entry}\n`);
  io.out("Use them? Only if you trust their author. [y/N] ");
  const answer = await io.readLine();
  const trusted = /^y(es)?$/i.test(answer?.trim() ?? "");
  // The end of the input is not an answer.
  if (answer === undefined) return;
  await setTrust(root, io.cwd, trusted, systemClock);
  io.out(trusted ? "Trusted. To undo it: teams trust --revoke\n" : "Not trusted. To trust it: teams trust\n");
}
