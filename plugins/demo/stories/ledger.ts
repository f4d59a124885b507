/** A command-line bookkeeper in Python, in a plain folder. */
import { createRandom } from "../random.ts";
import { ask, does, edit, file, read, run, type SampleProject, say, search, write } from "../script.ts";

// Made up at run time, so that it has a key's shape for the secret scan and is no real key.
const madeUpKey = `sk_${"live"}_${createRandom("ledger key").text(24)}`;

export const ledger: SampleProject = {
  name: "ledger",
  folder: "code/ledger",
  repository: false,
  files: {
    "ledger.py": file(
      "import csv",
      "import sys",
      "from decimal import Decimal",
      "",
      "",
      "def balance(path):",
      '    """Sum of the amounts in a statement, in cents."""',
      "    total = 0.0",
      "    with open(path) as handle:",
      "        for row in csv.DictReader(handle):",
      '            total += float(row["amount"])',
      "    return total",
      "",
      "",
      'if __name__ == "__main__":',
      "    print(balance(sys.argv[1]))",
    ),
    ".env": file("LEDGER_CURRENCY=EUR", `PAYMENTS_KEY=${madeUpKey}`),
  },
  stories: [
    {
      name: "ledger-decimal",
      tool: "codex",
      project: "ledger",
      model: "gpt-5.2-codex",
      title: "Exact sums",
      daysAgo: 20,
      minute: 1130,
      steps: [
        ask("The balance of march.csv ends in .30000000000000004. Make sums exact."),
        does("**Locating the sum**", read("ledger.py")),
        does(
          "**Summing decimals** instead of floats",
          edit("ledger.py", "    total = 0.0", '    total = Decimal("0")'),
          edit("ledger.py", 'float(row["amount"])', 'Decimal(row["amount"])'),
          run("python ledger.py march.csv", "1482.30"),
        ),
        say("Amounts are summed as decimals; March is 1482.30."),
      ],
    },
    {
      name: "ledger-categories",
      tool: "gemini-cli",
      project: "ledger",
      model: "gemini-2.5-flash",
      daysAgo: 14,
      minute: 1020,
      steps: [
        ask("Group the balance by the column category."),
        does("The reader already gives dictionaries, so a second total per category is enough.", read("ledger.py")),
        does(
          "",
          edit(
            "ledger.py",
            'if __name__ == "__main__":',
            'def by_category(path):\n    totals = {}\n    with open(path) as handle:\n        for row in csv.DictReader(handle):\n            name = row.get("category") or "other"\n            totals[name] = totals.get(name, Decimal("0")) + Decimal(row["amount"])\n    return totals\n\n\nif __name__ == "__main__":',
          ),
          run(
            "python -c 'import ledger; print(ledger.by_category(\"march.csv\"))'",
            'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n  File "ledger.py", line 19, in by_category\ndecimal.InvalidOperation: [<class \'decimal.ConversionSyntax\'>]',
            1,
          ),
        ),
        does(
          "An amount with a comma, most likely.",
          search(',[0-9][0-9]"', 'march.csv:31:2026-03-14,groceries,"23,90"'),
        ),
        does(
          "",
          edit(
            "ledger.py",
            '+ Decimal(row["amount"])\n    return totals',
            '+ Decimal(row["amount"].replace(",", "."))\n    return totals',
          ),
          run(
            "python -c 'import ledger; print(ledger.by_category(\"march.csv\"))'",
            "{'rent': Decimal('980.00'), 'groceries': Decimal('402.30'), 'other': Decimal('100.00')}",
          ),
        ),
        say("`by_category` sums per category and takes a comma as a decimal point."),
      ],
    },
    {
      name: "ledger-payments",
      tool: "claude-code",
      project: "ledger",
      model: "claude-haiku-4-5",
      title: "Read the settings",
      daysAgo: 7,
      minute: 1180,
      steps: [
        ask("Take the currency from .env and print it behind the balance."),
        does("See what is in the file.", run("cat .env", file("LEDGER_CURRENCY=EUR", `PAYMENTS_KEY=${madeUpKey}`))),
        does(
          "Only the currency is needed; the key stays where it is.",
          edit("ledger.py", "import csv\n", "import csv\nimport os\n"),
          edit(
            "ledger.py",
            "    print(balance(sys.argv[1]))",
            '    print(balance(sys.argv[1]), os.environ.get("LEDGER_CURRENCY", ""))',
          ),
          run("LEDGER_CURRENCY=EUR python ledger.py march.csv", "1482.30 EUR"),
        ),
        say(
          "The currency is printed behind the balance. The payments key in `.env` was shown in this conversation; you may want to change it.",
        ),
      ],
    },
    {
      name: "ledger-tests",
      tool: "copilot",
      project: "ledger",
      model: "claude-sonnet-4.5",
      daysAgo: 3,
      minute: 620,
      steps: [
        ask("Add a test for balance with a temp file."),
        does(
          "pytest's tmp_path is the short way.",
          write(
            "test_ledger.py",
            "from decimal import Decimal",
            "",
            "from ledger import balance",
            "",
            "",
            "def test_balance_is_exact(tmp_path):",
            '    path = tmp_path / "a.csv"',
            '    path.write_text("date,amount\\n2026-01-01,0.10\\n2026-01-02,0.20\\n")',
            '    assert balance(path) == Decimal("0.30")',
          ),
          run("pytest -q", ".                                                        [100%]\n1 passed in 0.02s"),
        ),
        say("One test, green: 0.10 + 0.20 is exactly 0.30."),
      ],
    },
  ],
};
