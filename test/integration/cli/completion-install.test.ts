import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completionFiles } from "../../../src/cli/completion/install.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

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

  it("writes through a link that leads nowhere, and names a circular link", async () => {
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

  it("names a start file that cannot be written, and what was changed before", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    symlinkSync("/dev/null/zshrc", start);
    const failed = await run("install");
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(`${start} cannot be written`)]);
    const [, script = ""] = /; (\S+) was changed before/.exec(failed.err) ?? [];
    expect(readFileSync(script, "utf8")).toContain("written by: teams completion");
  });

  it("keeps a byte order mark and CRLF line ends of a start file", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    writeFileSync(start, "\ufeffsetopt autocd\r\n");
    for (const action of ["install", "uninstall"]) expect((await run(action, "zsh")).code).toBe(0);
    expect(readFileSync(start, "utf8")).toMatch(/^\ufeffsetopt autocd\r\n/);
  });

  it("changes no start file that is not UTF-8", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    const latin = Buffer.from("# f\u00fcr mich\n", "latin1");
    writeFileSync(start, latin);
    const refused = await run("install", "zsh");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`${start} is not UTF-8`)]);
    expect(readFileSync(start)).toEqual(latin);
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  it("writes on macOS to the start file that a login bash reads, and creates no file that hides it", () => {
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

  it("changes nothing if its lines are damaged, or its script is not its own", async () => {
    const { run, home } = user();
    const start = join(home, ".zshrc");
    writeFileSync(start, "# >>> teams completion >>>\nexport A=1\n");
    const damaged = await run("install", "zsh");
    expect([damaged.code, damaged.err]).toEqual([2, expect.stringContaining("damaged")]);
    expect(existsSync(join(home, ".local"))).toBe(false);
    const script = join(home, ".config/fish/completions/teams.fish");
    mkdirSync(join(script, ".."), { recursive: true });
    writeFileSync(script, "complete -c teams\n");
    for (const action of ["install", "uninstall"]) {
      const refused = await run(action, "fish");
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("was not written by teams")]);
    }
    expect(readFileSync(script, "utf8")).toBe("complete -c teams\n");
  });

  it("refuses an agent's model, and a shell that it does not know", async () => {
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
