import {
  type CliLogin,
  type CliNode,
  type InstalledCli,
  installedClis,
} from "../../adapter/installed/installed-clis.ts";
import { EXIT } from "../../errors.ts";
import { rootDirectory } from "../../os/files/app-directories.ts";
import { loadSettings } from "../../settings/settings.ts";
import { line } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { defineCommand } from "../command.ts";
import { noteIgnored } from "../trust-prompt.ts";

export const command = defineCommand({
  name: "cli ls",
  ignoresTeamOptions: true,
  summary: "List the third-party CLIs that can be teammates, and their state on this machine",
  args: [],
  options: {},
  examples: ["teams cli ls", "teams cli ls --json"],
  notes:
    "teams asks each installed program for its version. It reads the login from files and variables, and asks no server. " +
    "teams never installs a CLI.",
  async run({ io, out }) {
    const settings = loadSettings(rootDirectory(io.env), io.cwd);
    noteIgnored(out, settings);
    const signal = io.interruption();
    const clis = await installedClis(settings.teams.adapters, io.env, signal);
    if (signal.aborted) return EXIT.interrupted;
    out.answer({ clis }, () => {
      const rows = clis.map((cli) => [
        cli.program === null ? out.styleText(cli.name, "quiet") : cli.name,
        versionText(cli),
        cli.tested.join(", "),
        cli.channel,
        nodeText(cli.node),
        loginText(cli.login),
      ]);
      const headings = ["CLI", "INSTALLED", "TESTED", "CHANNEL", "NODE", "LOGIN"];
      return [
        table(headings, rows, { columns: out.columns }),
        ...clis.flatMap(problemLines),
        ...list(
          "To install (teams never does):",
          clis.filter(({ program }) => program === null),
          ({ install }) => install,
        ),
        ...list(
          "To log in:",
          clis.filter(({ program, login }) => program !== null && login.state !== "found"),
          ({ login }) => login.hint,
        ),
        ...list(
          "Good to know:",
          clis.filter(({ program }) => program !== null),
          ({ notes }) => notes,
        ),
      ].join("\n");
    });
    return EXIT.done;
  },
});

function versionText({ program, version, rank }: InstalledCli): string {
  if (program === null) return "no";
  return `${version ?? "unknown"}${rank === "untested" || rank === "unsupported" ? ` (${rank})` : ""}`;
}

function nodeText(node: CliNode | null): string {
  if (node === null) return "";
  return node.isEnough === false ? `${node.needed} (has ${node.found})` : node.needed;
}

function loginText({ state, from }: CliLogin): string {
  return from ?? (state === "none" ? "none found" : "unknown");
}

function problemLines({ name, problem, refused }: InstalledCli): string[] {
  return [problem, refused].flatMap((text) => (text === null ? [] : [line`${name}: ${text}`]));
}

/** Lists the texts of each CLI: a command or notes. */
function list(
  heading: string,
  clis: readonly InstalledCli[],
  textsOf: (cli: InstalledCli) => readonly string[] | string | null,
): string[] {
  const rows = clis.flatMap((cli) =>
    [textsOf(cli) ?? []].flat().map((text, i) => ["", i === 0 ? cli.name : "", text]),
  );
  if (rows.length === 0) return [];
  const [, ...lines] = table(["", "", ""], rows).split("\n");
  return ["", heading, ...lines];
}
