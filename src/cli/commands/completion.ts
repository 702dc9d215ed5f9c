import { EXIT, TeamError } from "../../errors.ts";
import { deciderOf } from "../../runtime/select-team.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { defineCommand, usageError } from "../command.ts";
import { SCRIPTS, SHELLS, type Shell } from "../completion/scripts.ts";

export const command = defineCommand({
  name: "completion",
  summary: "Set up shell completion for teams, or print its script",
  args: [
    { name: "action", summary: "install, uninstall, or a shell whose script to print: bash, zsh, fish" },
    { name: "shell", summary: "the shell to install it for (default: the shell in $SHELL)", optional: true },
  ],
  options: { print: { summary: "with install: print the files that it would write, and change nothing" } },
  ignoresTeamOptions: true,
  examples: [
    "teams completion install",
    "source <(teams completion bash)",
    "teams completion fish > ~/.config/fish/completions/teams.fish",
  ],
  notes:
    "Completes commands, options, and the current names of teams, agents, tasks and requests. install writes a script and, for bash and zsh, a few marked lines at the end of ~/.bashrc (on macOS, of the startup file of a login bash) or ~/.zshrc; you can repeat it.",
  async run(call) {
    const { args, options, out } = call;
    if (args.action === "install" || args.action === "uninstall") {
      await install(call, args.action, await installShell(call, args.shell), options.print);
      return EXIT.done;
    }
    const shell = knownShell(args.action);
    if (args.shell !== undefined || options.print) {
      throw usageError(command, `accepts no words after ${shell}, and no --print.`);
    }
    out.answer({ shell, script: SCRIPTS[shell] }, () => SCRIPTS[shell].trimEnd());
    return EXIT.done;
  },
});

function knownShell(name: string): Shell {
  const shell = SHELLS.find((known) => known === name);
  if (shell !== undefined) return shell;
  throw usageError(command, `does not know ${JSON.stringify(name)}; the shells are ${SHELLS.join(", ")}.`);
}

async function installShell({ io }: AnyCall, named: string | undefined): Promise<Shell> {
  if (named !== undefined) return knownShell(named);
  const { shellOf } = await import("../completion/install.ts");
  const shell = shellOf(io.env.SHELL);
  if (shell !== undefined) return shell;
  throw usageError(command, `cannot tell your shell from $SHELL; name it: ${SHELLS.join(", ")}.`);
}

async function install(
  { io, out }: AnyCall,
  action: "install" | "uninstall",
  shell: Shell,
  print: boolean,
): Promise<void> {
  const { completionFiles, filesText, installCompletion, installText, removeCompletion, removeText } =
    await import("../completion/install.ts");
  const files = completionFiles(shell, io.env);
  if (print) {
    if (action === "uninstall") throw usageError(command, "accepts --print only with install.");
    return out.answer({ shell, files }, () => filesText(files));
  }
  if (deciderOf(io.env) === "model") {
    throw new TeamError("PERMISSION_DENIED", "Only a person can change the startup files of their shell.", {
      hint: `Ask the user to run: teams completion ${action} ${shell}`,
    });
  }
  const isInstall = action === "install";
  const changes = isInstall ? installCompletion(files) : removeCompletion(files);
  out.done({ shell, files: changes }, () => (isInstall ? installText : removeText)(shell, changes));
}
