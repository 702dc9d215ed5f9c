import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git } from "../../../support/files/git.ts";
import { noSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Returns the bytes of a path; each `?` becomes a byte that is not UTF-8. */
function raw(path: string): Buffer {
  return Buffer.from(path.replaceAll("?", "\xff"), "latin1");
}

function put(path: string, text: string): void {
  mkdirSync(raw(path.slice(0, path.lastIndexOf("/"))), { recursive: true });
  writeFileSync(raw(path), text);
}

const textOf = (path: string): string => readFileSync(raw(path), "utf8");

// macOS refuses such names.
describe.skipIf(noSandbox !== undefined || platform() === "darwin")(
  "a command in the sandbox, near a name that is not UTF-8",
  () => {
    test("cannot change a protected file below it, even if its directory is renamed", async () => {
      const guarded = ["sub/d?/.envrc", "sub/d?/e/.vscode/tasks.json", "sub/g?/.git/config"];
      const { bash, project, unnamed } = await sandboxedAgent({
        prepare: (_, at) => {
          for (const name of guarded) put(join(at, name), "mine");
        },
      });
      await bash(`cd sub; for d in d* g*; do for f in .envrc e/.vscode/tasks.json .git/config; do
        echo evil > "$d/$f"; rm -f "$d/$f"; mv "$d/$f" "$d/x"; done; mv "$d" moved; done; mv ../sub ../s`);
      for (const name of guarded) expect(textOf(join(project, name)), name).toBe("mine");
      expect(unnamed).toHaveLength(1);
      expect(unnamed[0]).toContain(
        `${project}/sub is read-only for commands because of $'${project}/sub/d\\xff/.envrc'`,
      );
      expect((await bash("echo x > made")).isError).toBe(false);
    });

    test("cannot read a denied file below it or with such a name", async () => {
      const names = ["one/d?/.env", "two/secret?"];
      const { bash, project, unnamed } = await sandboxedAgent({
        deny: ["Read(.env)", "Read(secret*)"],
        prepare: (_, at) => {
          for (const name of names) put(join(at, name), "TOP SECRET");
          put(join(at, "plain"), "readable");
        },
      });
      const { content } = await bash("cat plain; cat one/d*/.e* two/s*; cd two && cat *; cp -r . ../copy");
      expect(content).toMatch(/^readable/);
      expect(content).not.toContain("SECRET");
      expect(existsSync(raw(join(project, "copy/secret?")))).toBe(false);
      expect(unnamed.join()).toContain(`${project}/two is hidden from commands`);
    });

    test("can change files below such a name in the working directory itself, which is reported", async () => {
      const { bash, project, unnamed, newFiles } = await sandboxedAgent({
        deny: ["Read(.env)"],
        prepare: (_, at) => put(join(at, "d?/.envrc"), "mine"),
      });
      expect(unnamed).toEqual([
        `the sandbox cannot close a path that is not UTF-8: commands can change $'${project}/d\\xff/.envrc'. Rename such a path so that it can be closed.`,
      ]);
      await bash("echo x > made; mkdir sub; mkdir sub/$'e\\xff'; echo x > sub/$'e\\xff'/.env");
      await eventually("the second report", () => unnamed.length > 1);
      expect(unnamed[1]).toContain(`${project}/sub is hidden from commands`);
      expect(newFiles).toEqual([]);
      expect((await bash("cat sub/*/.env")).content).not.toBe("x");
      expect(readdirSync(project)).toContain("made");
      expect(unnamed).toHaveLength(2);
    });

    test("cannot change the configuration of a submodule with such a name", async () => {
      const config = ".git/modules/lib/d?/config";
      const { bash, project } = await sandboxedAgent({
        prepare: (_, at) => {
          git(at, "init", "-q");
          put(join(at, config), "mine");
        },
      });
      await bash('for f in .git/modules/lib/*/config; do echo evil > "$f"; done; git status --short');
      expect(textOf(join(project, config))).toBe("mine");
    });
  },
);
