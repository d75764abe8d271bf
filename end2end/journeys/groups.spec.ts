import { join } from "node:path";
import { PASSWORD, first, signUp } from "../fixtures/accounts.ts";
import { everySize } from "../fixtures/sizes.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/groups.yaml") } });
// Two browsers and password hashing are slow.
test.describe.configure({ timeout: 120_000 });

test("a group gives its members a role until they leave it", async ({ page, server, browser, console }) => {
  console.expect(/status of 4(04|22)/);
  await first(page, server, "ada");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signUp(bob, "bob");
  const status = async () => (await bob.goto("/desk"))?.status();
  expect(await status()).toBe(404);

  await page.goto("/admin/users");
  await page.getByRole("link", { name: "Groups", exact: true }).click();
  await expect(page.getByText("There are no groups yet.")).toBeVisible();
  const form = page.getByRole("region", { name: "Add a group" });
  await form.getByLabel("Group name").fill("Help desk");
  await form.getByLabel("Description").fill("Answers customers");
  // A role that the config does not name is probably misspelt.
  await form.getByLabel("Other roles, separated by commas").fill("suport");
  await form.getByRole("button", { name: "Add group" }).click();
  await expect(page.getByRole("alert")).toContainText("Did you mean support?");
  await form.getByLabel("Other roles, separated by commas").fill("");
  await form.getByLabel("support", { exact: true }).check();
  await form.getByRole("button", { name: "Add group" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Help desk" })).toBeVisible();

  const members = page.getByRole("region", { name: "Members" });
  await members.getByLabel("User name").fill("nobody");
  await members.getByRole("button", { name: "Add member" }).click();
  await expect(page.getByRole("alert")).toContainText("There is no user with this name.");
  await members.getByLabel("User name").fill("Bob");
  await members.getByRole("button", { name: "Add member" }).click();
  await expect(members.getByRole("link", { name: "bob" })).toBeVisible();
  expect(await status()).toBe(200);
  await everySize(page, "group");
  // Administrators do not change their own rights.
  await members.getByLabel("User name").fill("ada");
  await members.getByRole("button", { name: "Add member" }).click();
  await expect(page.getByRole("alert")).toContainText("This is your own account.");

  // The lists say where the role comes from.
  await page.goto("/admin/users");
  await expect(page.getByRole("row", { name: /bob/ })).toContainText("Help desk (gives support)");
  await page.getByRole("link", { name: "bob", exact: true }).click();
  await page.getByRole("link", { name: "Help desk (gives support)" }).click();
  await page.getByRole("link", { name: "All groups" }).click();
  await expect(page.getByRole("row", { name: /Help desk/ })).toContainText("support");
  await everySize(page, "groups");

  await page.getByRole("link", { name: "Help desk" }).click();
  await page.getByRole("button", { name: "Remove bob from the group" }).click();
  await expect(page.getByText("Nobody is in this group.")).toBeVisible();
  expect(await status()).toBe(404);
  await page.getByRole("button", { name: "Delete group" }).click();
  await expect(page.getByText("There are no groups yet.")).toBeVisible();
  await other.close();
});

test("users are invited from a file after a preview, all or nobody", async ({ page, server, browser, console }) => {
  console.expect(/status of 422/);
  await first(page, server, "ada");
  const origin = server.url;
  const made = await page.request.post("/api/admin/groups", { data: { name: "Help desk", roles: ["support"] }, headers: { origin } });
  expect(made.status()).toBe(201);
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "invited from CSV" }).click();
  await page.getByLabel("Or its text").fill("name,roles,groups\nADA,,\nbob,suport,\neve,,Nowhere\n");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("alert")).toContainText("3 lines cannot be imported.");
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByRole("row", { name: /^2/ })).toContainText("There is a user with this name already.");
  await expect(preview.getByRole("row", { name: /^3/ })).toContainText("Did you mean support?");
  await expect(preview.getByRole("row", { name: /^4/ })).toContainText("There is no group “Nowhere”.");
  await everySize(page, "import-preview");

  const file = { name: "users.csv", mimeType: "text/csv", buffer: Buffer.from("name,groups\nbob,Help desk\neve,\n") };
  await page.getByLabel("CSV file").setInputFiles(file);
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(preview.getByRole("row", { name: /^2/ })).toContainText("Invite");
  await page.getByRole("button", { name: "Invite 2 users" }).click();
  const links = page.getByLabel("Names and links, as CSV");
  await expect(links).toHaveValue(/^name,link\nbob,http\S+\neve,http\S+\n?$/);
  await everySize(page, "import-links");
  const link = (await links.inputValue()).split("\n")[1]?.split(",")[1] ?? "";

  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await bob.goto(link);
  await bob.getByLabel("Name").fill("bob");
  await bob.getByLabel("Password").fill(PASSWORD);
  await bob.getByRole("button", { name: "Create the account" }).click();
  await alive(bob);
  expect((await bob.goto("/desk"))?.status()).toBe(200);
  await page.goto("/admin/invitations");
  await expect(page.getByRole("button", { name: /^Revoke the invitation/ })).toHaveCount(1);
  await other.close();
});
