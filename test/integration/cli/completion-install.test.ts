import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completionFiles } from "../../../src/cli/completion/install.ts";
import { failingRemovals } from "../../support/files/failing-removals.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

const BEGIN = "# >>> teams completion >>>";
const END = "# <<< teams completion <<<";

/** Runs `teams completion …` for a user with this home. */
function user() {
  const cli = cliIn();
  const home = join(cli.directory, "user");
  mkdirSync(home);
  const run = (...words: string[]) =>
    cli(["completion", ...words], { env: { HOME: home, SHELL: "/bin/zsh" } });
  return { run, home };
}

describe("completion install", () => {
  it("replaces a file that a link names, and keeps the link", async () => {
    const { run, home } = user();
    writeFileSync(join(home, "dotfile"), "setopt autocd\n");
    symlinkSync("dotfile", join(home, ".zshrc"));
    expect((await run("install")).code).toBe(0);
    expect(readFileSync(join(home, "dotfile"), "utf8")).toContain("# >>> teams completion >>>");
  });

  it("writes through a dangling link, and names a circular link", async () => {
    const { run, home } = user();
    symlinkSync("dotfiles/zshrc", join(home, ".zshrc"));
    expect((await run("install")).code).toBe(0);
    expect(readlinkSync(join(home, ".zshrc"))).toBe("dotfiles/zshrc");
    expect(readFileSync(join(home, "dotfiles/zshrc"), "utf8")).toContain("# >>> teams completion >>>");
    const circle = user();
    symlinkSync(".zshrc", join(circle.home, ".zshrc"));
    const refused = await circle.run("install");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(join(circle.home, ".zshrc"))]);
    expect(refused.err).not.toContain("defect");
    expect(existsSync(join(circle.home, ".local"))).toBe(false);
  });

  it("names a startup file that cannot be written, and what was already changed", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    symlinkSync("/dev/null/zshrc", start);
    const failed = await run("install");
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(`${start} cannot be written`)]);
    const [, script = ""] = /; already changed: (\S+)\. /.exec(failed.err) ?? [];
    expect(readFileSync(script, "utf8")).toContain("written by: teams completion");
  });

  it("names a script that cannot be removed, and what was already changed", async () => {
    const { run, home } = user();
    expect((await run("install", "zsh")).code).toBe(0);
    const script = join(home, ".local/share/zsh/site-functions/_teams");
    failingRemovals((path) => path === script);
    const failed = await run("uninstall", "zsh");
    expect(failed.err).toContain(`${script} cannot be removed (EPERM: operation not permitted)`);
    expect(failed.err).toContain(`; already changed: ${join(home, ".zshrc")}.`);
    expect(readFileSync(join(home, ".zshrc"), "utf8")).not.toContain("teams");
  });

  it("keeps a byte order mark and CRLF line ends of a startup file", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    writeFileSync(start, "\ufeffsetopt autocd\r\n");
    for (const action of ["install", "uninstall"]) expect((await run(action, "zsh")).code).toBe(0);
    expect(readFileSync(start, "utf8")).toMatch(/^\ufeffsetopt autocd\r\n/);
  });

  it("does not change a startup file that is not UTF-8", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    const latin = Buffer.from("# f\u00fcr mich\n", "latin1");
    writeFileSync(start, latin);
    const refused = await run("install", "zsh");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`${start} is not UTF-8`)]);
    expect(readFileSync(start)).toEqual(latin);
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  it("writes on macOS to the startup file that a login bash reads, and creates no file that hides it", () => {
    const { home } = user();
    const start = () => completionFiles("bash", { HOME: home }, "darwin").at(-1);
    expect(start()?.path).toBe(join(home, ".bash_profile"));
    writeFileSync(join(home, ".profile"), "");
    expect(start()).toMatchObject({
      path: join(home, ".profile"),
      text: expect.stringContaining(`if [ "\${BASH##*/}" = bash ] && [ -r `),
    });
    writeFileSync(join(home, ".bash_profile"), "");
    expect(start()?.path).toBe(join(home, ".bash_profile"));
  });

  it.each([
    ["one marker is missing", `${BEGIN}\nexport A=1\n`],
    ["the markers occur twice", `${BEGIN}\n${END}\n${BEGIN}\n${END}\n`],
    ["the markers are in the wrong order", `${END}\n${BEGIN}\n`],
  ])("changes nothing if %s, and says which lines to remove", async (_what, text) => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    writeFileSync(start, text);
    const damaged = await run("install", "zsh");
    expect(damaged.code).toBe(2);
    expect(damaged.err).toContain(
      `The lines that teams wrote in ${start} are incomplete, doubled or in the wrong order; nothing was changed.`,
    );
    expect(damaged.err).toContain(
      `Open the file, remove each line “${BEGIN}” and “${END}” and the lines of teams between them, then try again.`,
    );
    expect(existsSync(join(home, ".local"))).toBe(false);
    expect(readFileSync(start, "utf8")).toBe(text);
  });

  it("changes nothing if its script is not its own", async () => {
    const { run, home } = user();
    const script = join(home, ".config/fish/completions/teams.fish");
    mkdirSync(join(script, ".."), { recursive: true });
    writeFileSync(script, "complete -c teams\n");
    for (const action of ["install", "uninstall"]) {
      const refused = await run(action, "fish");
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("was not written by teams")]);
    }
    expect(readFileSync(script, "utf8")).toBe("complete -c teams\n");
  });

  it("refuses an agent's model, and an unknown shell", async () => {
    const { run, home } = user();
    const cli = cliIn();
    const model = await cli(["completion", "install", "zsh"], {
      env: { HOME: home, TEAMS_AGENT: "ada@crew" },
    });
    expect([model.code, model.err]).toEqual([1, expect.stringContaining("Only a person")]);
    expect((await run("install", "tcsh")).code).toBe(2);
    expect((await run("bash", "zsh")).code).toBe(2);
    expect(existsSync(join(home, ".zshrc"))).toBe(false);
  });
});
