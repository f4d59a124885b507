/** Ordinary passwords, as configurations, command lines and prompts hold them: an export shows none of them. */
import { describe, expect, it } from "vitest";
import { redact } from "./_engine.ts";
import { createRandom, letters, toSample } from "./_samples.ts";

const digits = (length: number, seed: number) => toSample(`{0-9:${length}}`, createRandom(seed));
/** What people choose and what generators make; short ones too. */
const VALUES = Array.from({ length: 6 }, (_, i) => {
  const sign = "!#_%!-"[i] ?? "!";
  return `${letters(3 + (i % 3), 500 + i)}${digits(2, 510 + i)}${i < 2 ? "" : `${sign}${letters(3, 520 + i)}${digits(1, 530 + i)}`}`;
});

/** Sixteen bytes a line behind where they stand. */
function dump(text: string, say: (bytes: Buffer) => string, gap: string, base = 16): string {
  const bytes = Buffer.from(text);
  let lines = "";
  for (let at = 0; at < bytes.length; at += 16)
    lines += `${at.toString(base).padStart(base === 8 ? 7 : 8, "0")}${gap}${say(bytes.subarray(at, at + 16))}\n`;
  return lines;
}

const FORMS: Record<string, (value: string) => string> = {
  "YAML, key pass": (v) => `smtp:\n  user: bob\n  pass: ${v}\n`,
  "JSON, key pass": (v) => JSON.stringify({ auth: { user: "bob", pass: v } }),
  "nodemailer's auth": (v) => `createTransport({ auth: { user: 'bob', pass: '${v}' } })`,
  "an environment file": (v) => `DB_HOST=db\nDB_PASSWORD=${v}\n`,
  "an exported variable": (v) => `export DB_PASSWORD="${v}"`,
  "YAML, key password": (v) => `database:\n  password: ${v}\n`,
  "Django's secret key": (v) => `SECRET_KEY = 'django-insecure-${v}(8s&x^2k!m0q_zz-kd9'`,
  "SQL for PostgreSQL": (v) => `ALTER ROLE bob WITH PASSWORD '${v}';`,
  "SQL for MySQL": (v) => `CREATE USER 'bob'@'%' IDENTIFIED BY '${v}';`,
  mongosh: (v) => `mongosh "mongodb://db/app" -u bob -p ${v}`,
  "redis-cli": (v) => `redis-cli -h cache -a ${v} ping`,
  "a pgpass file": (v) => `db.example.com:5432:app:bob:${v}\n`,
  "a prompt": (v) => `Password for bob: ${v}\n`,
  "a prompt in German": (v) => `Passwort: ${v}\n`,
  "a prompt in French": (v) => `mot de passe : ${v}\n`,
  "a prompt in Chinese": (v) => `密码：${v}\n`,
  "a prompt in Japanese": (v) => `パスワード: ${v}\n`,
  "a prompt in Russian": (v) => `Пароль: ${v}\n`,
  "a prompt in Spanish": (v) => `Contraseña: ${v}\n`,
  ldapsearch: (v) => `ldapsearch -x -D cn=admin -w ${v} -b dc=x`,
  zip: (v) => `zip -P ${v} a.zip f`,
  keytool: (v) => `keytool -storepass ${v} -list`,
  htpasswd: (v) => `htpasswd -b .htpasswd bob ${v}`,
  chpasswd: (v) => `echo "bob:${v}" | sudo chpasswd`,
  "net user": (v) => `net user bob ${v} /add`,
  rabbitmqctl: (v) => `rabbitmqctl add_user bob ${v}`,
  lftp: (v) => `lftp -u bob,${v} ftp.example.com`,
  PowerShell: (v) => `ConvertTo-SecureString "${v}" -AsPlainText -Force`,
  "a setter": (v) => `source.setPassword("${v}");`,
  xxd: (v) =>
    dump(
      `DB_PASSWORD=${v}\n`,
      (bytes) =>
        `${(bytes.toString("hex").match(/.{1,4}/g) ?? []).join(" ").padEnd(39)}  ${bytes.toString("latin1").replace(/\n/g, ".")}`,
      ": ",
    ),
  "hexdump -C": (v) =>
    dump(
      `DB_PASSWORD=${v}\n`,
      (bytes) =>
        `${(bytes.toString("hex").match(/../g) ?? []).join(" ").padEnd(48)}  |${bytes.toString("latin1").replace(/\n/g, ".")}|`,
      "  ",
    ),
  "od -c": (v) =>
    dump(
      `DB_PASSWORD=${v}\n`,
      (bytes) => [...bytes.toString("latin1")].map((char) => (char === "\n" ? "\\n" : char).padStart(4)).join(""),
      "",
      8,
    ),
  "a variable of Windows": (v) => `setx DB_PASSWORD "${v}"`,
  "az login": (v) => `az login -u bob -p '${v}'`,
  smbclient: (v) => `smbclient //s/x -U 'bob%${v}'`,
  "sudo's stdin": (v) => `echo '${v}' | sudo -S ls`,
  useradd: (v) => `useradd -p '${v}' bob`,
  gpg: (v) => `gpg --batch --passphrase '${v}' -d a`,
  xfreerdp: (v) => `xfreerdp /u:bob /p:'${v}' /v:h`,
  "redis-cli AUTH": (v) => `redis-cli AUTH '${v}'`,
  "a Redis configuration": (v) => `requirepass ${v}\n`,
  "nslcd's configuration": (v) => `bindpw ${v}\n`,
  "C#'s credential": (v) => `new NetworkCredential("bob", "${v}")`,
  "Python's requests": (v) => `requests.get(url, auth=("bob", "${v}"))`,
  JDBC: (v) => `DriverManager.getConnection(url, "bob", "${v}");`,
  Cypress: (v) => `cy.get('[name=password]').type('${v}')`,
  "MySQL's plugin": (v) => `ALTER USER 'root'@'%' IDENTIFIED WITH mysql_native_password BY '${v}';`,
  "SQL values": (v) => `INSERT INTO users (name, password) VALUES ('bob', '${v}');`,
  "a short key": (v) => `pw: ${v}`,
  "German prose": (v) => `das Passwort lautet ${v}`,
  "an application's secret": (v) => `APP_SECRET=${v}\n`,
  "a list of YAML": (v) => `- name: DB_PASSWORD\n  value: ${v}\n`,
  "a Kubernetes secret": (v) => `stringData:\n  password: ${v}\n`,
  "a form": (v) => `username=bob&password=${encodeURIComponent(v)}`,
  "a table": (v) => `| password | ${v} |`,
  "a Spring property": (v) => `spring.datasource.password=${v}\n`,
  "net use": (v) => `net use \\\\srv\\share /user:bob ${v}`,
  "login with": (v) => `login with bob / ${v}`,
  "INI pwd": (v) => `[client]\nuser=root\npwd=${v}\n`,
  "Dockerfile ENV": (v) => `ENV DB_PASSWORD ${v}\n`,
  svn: (v) => `svn co --username bob --password ${v} https://x`,
  httpie: (v) => `http -a bob:${v} GET https://x`,
  ipmitool: (v) => `ipmitool -I lanplus -H 10.0.0.1 -U admin -P ${v} power status`,
  snmp: (v) => `snmpwalk -v3 -u bob -A ${v} -l authNoPriv host`,
  "expect send": (v) => `expect "assword:"\nsend "${v}\\r"`,
  kinit: (v) => `echo '${v}' | kinit bob@EXAMPLE.COM`,
  cryptsetup: (v) => `echo -n "${v}" | cryptsetup luksOpen /dev/sdb x -`,
  "passwd --stdin": (v) => `echo '${v}' | passwd --stdin bob`,
  "prose: user and password": (v) => `user bob, password ${v}`,
  "prose: credentials": (v) => `credentials: bob / ${v}`,
  "aws rds": (v) => `aws rds create-db-instance --master-username bob --master-user-password ${v}`,
  plink: (v) => `plink -ssh bob@host -pw ${v}`,
  psexec: (v) => `psexec \\\\srv -u bob -p ${v} cmd`,
  "evil-winrm": (v) => `evil-winrm -i 10.0.0.1 -u bob -p '${v}'`,
  PSCredential: (v) => `$pw = '${v}' | ConvertTo-SecureString -AsPlainText -Force`,
  nmcli: (v) => `nmcli dev wifi connect Home password ${v}`,
  "wifi netsh": (v) => `<keyMaterial>${v}</keyMaterial>`,
  "FTP PASS": (v) => `USER bob\r\nPASS ${v}\r\n`,
  "IMAP login": (v) => `a1 LOGIN bob ${v}\r\n`,
  "postfix sasl": (v) => `[smtp.x.org]:587 bob:${v}\n`,
  msmtp: (v) => `account x\nuser bob\npassword ${v}\n`,
  fetchmail: (v) => `poll x proto imap user "bob" pass "${v}"\n`,
  "oracle connect": (v) => `CONNECT bob/${v}@orcl`,
  mosquitto: (v) => `mosquitto_pub -h mq -u bob -P ${v} -t x -m y`,
  "mc alias": (v) => `mc alias set s3 http://minio:9000 bob ${v}`,
  "rclone obscure": (v) => `rclone obscure ${v}`,
  "pass insert": (v) => `echo "${v}" | pass insert -e x`,
  "bw unlock": (v) => `bw unlock ${v}`,
  "secret-tool stdin": (v) => `printf '%s' '${v}' | secret-tool store --label x k v`,
  x11vnc: (v) => `x11vnc -passwd ${v}`,
  vncpasswd: (v) => `echo ${v} | vncpasswd -f > p`,
  jenkins: (v) => `java -jar jenkins-cli.jar -auth bob:${v} who-am-i`,
  "prose: pw is": (v) => `my pw is ${v} btw`,
  "prose: use": (v) => `use ${v} as the password`,
  "prose: with quotes": (v) => `the admin password should be "${v}"`,
  markdown: (v) => `- **Password**: \`${v}\``,
  vbscript: (v) => `objConn.Open "DSN=x", "bob", "${v}"`,
  "net use drive": (v) => `net use Z: \\\\srv\\data ${v} /user:CORP\\bob`,
  "pw dash": (v) => `pw - ${v}`,
  "nginx auth": (v) => `printf "bob:$(openssl passwd -apr1 ${v})\\n"`,
  "openssl passwd": (v) => `openssl passwd -6 ${v}`,
  mkpasswd: (v) => `mkpasswd -m sha-512 '${v}'`,
  pdftk: (v) => `pdftk a.pdf input_pw ${v} output b.pdf`,
  "ssh-keygen": (v) => `ssh-keygen -t ed25519 -N '${v}' -f k`,
  neo4j: (v) => `NEO4J_AUTH=neo4j/${v}`,
  "cypher-shell": (v) => `cypher-shell -u neo4j -p ${v}`,
  etcdctl: (v) => `etcdctl --user root:${v} get x`,
  smtplib: (v) => `server.login("bob@x.org", "${v}")`,
  robot: (v) => `Input Password    id=password    ${v}`,
  gherkin: (v) => `And I enter "${v}" as the password`,
  "gh secret": (v) => `gh secret set DB_PASSWORD --body "${v}"`,
  "prose: here is": (v) => `btw the wifi password here is ${v}`,
  "prose: changed to": (v) => `I changed the password to ${v}`,
};

describe("ordinary passwords", () => {
  it.each(Object.entries(FORMS))("%s", (_, form) => {
    for (const value of VALUES) {
      const shown = redact(form(value));
      expect(shown, value).toContain("[REDACTED:");
      for (const form of [value, encodeURIComponent(value)]) expect(shown).not.toContain(form);
    }
  });

  it("hashes of a shadow file", () => {
    const hash = `$6$${letters(8, 540)}$${letters(86, 541)}`;
    expect(redact(`bob:${hash}:19000:0:99999:7:::`)).not.toContain(hash.slice(12, 30));
  });

  it("what only looks like one stays", () => {
    const plain = [
      "pass: true",
      "the tests pass: 42",
      "pass: 12/13",
      "{ pass: 10, fail: 2 }",
      "PASS: test_login",
      "password: string",
      "Passwort: vergessen",
      "src/a.ts:1234:foo:bar:baz",
      "const pass = render(pass);",
      "password: process.env.DB",
      "first pass: 00:12",
      "zip -r a.zip dist",
      "user.setPassword(password)",
      "00000010: 2023 2041 7070 0a0a 6578 706f 7274 2063  # App..export c",
      'pass: "./src/index.ts"',
      "SECRET_KEY = os.environ['SECRET_KEY']",
      "IDENTIFIED BY '<password>'",
      "login with Google / Facebook",
      "the password is stored hashed",
      "a password with twelve characters",
      "net use Z: \\\\srv\\share /user:bob",
      "http -a bob GET https://x",
      "use Argon as the password hash",
      "PASS src/login.test.ts",
      "echo hello | docker login",
      "--password-stdin",
      "LOGIN bob secret",
    ];
    for (const text of plain) expect(redact(text)).toBe(text);
  });
});
